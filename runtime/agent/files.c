#include "files.h"
bool agent_file_request(agent_peer *peer, const MSG(ToAgent) * message) {
  (void)peer;
  (void)message;
  return false;
}
