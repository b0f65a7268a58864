/* SPDX-License-Identifier: Apache-2.0 */
/* Where the agent stands in a sandbox: its volume is mounted, read-only, at the directory. */
#ifndef COFFERDAM_LINK_AGENT_PATH_H
#define COFFERDAM_LINK_AGENT_PATH_H

#define CDAM_AGENT_DIRECTORY "/.cofferdam"
#define CDAM_AGENT_NAME "cofferdam-agent"
#define CDAM_AGENT_PATH CDAM_AGENT_DIRECTORY "/" CDAM_AGENT_NAME

#endif
