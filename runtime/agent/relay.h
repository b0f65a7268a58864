/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine runs in the sandbox for each client: hands its standard input and output to the
 * agent, and stays until one of the two goes. */
#ifndef COFFERDAM_AGENT_RELAY_H
#define COFFERDAM_AGENT_RELAY_H

int agent_relay(void);

#endif
