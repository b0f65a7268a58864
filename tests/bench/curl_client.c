/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#ifdef PARSE_JSON
#include <jansson.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_client.h"

static const char *path_of_socket;
static CURL *kept, *upgrading;
static struct curl_slist *plain_headers, *upgrade_headers;
static char *into;
static size_t into_size, into_used;

static size_t take(char *bytes, size_t one, size_t count, void *user) {
  (void)user;
  size_t length = one * count, room = into_size - 1 - into_used;
  size_t kept_length = length < room ? length : room;
  memcpy(into + into_used, bytes, kept_length);
  into_used += kept_length;
  into[into_used] = '\0';
  return length;
}

static int call(const char *method, const char *path, const char *request, bool upgrade, char *body,
                size_t size) {
  CURL *easy = upgrade ? upgrading : kept;
  char url[1024];
  snprintf(url, sizeof url, "http://localhost/v1.41%s", path);
  into = body;
  into_size = size;
  into_used = 0;
  body[0] = '\0';
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path_of_socket);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, upgrade ? upgrade_headers : plain_headers);
  if (strcmp(method, "GET") != 0) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request ? request : "");
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
  }
  if (upgrade) {
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  }
  CURLcode code = curl_easy_perform(easy);
  /* libcurl calls a switched connection that carried no byte an empty reply. */
  if (code != CURLE_OK && !(upgrade && code == CURLE_GOT_NOTHING)) {
    fprintf(stderr, "%s %s: %s\n", method, path, curl_easy_strerror(code));
    exit(1);
  }
#ifdef PARSE_JSON
  if (!upgrade && into_used) json_decref(json_loadb(body, into_used, JSON_REJECT_DUPLICATES, NULL));
#endif
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return (int)status;
}

http_client make_http_client(const char *socket_path) {
  path_of_socket = socket_path;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  kept = curl_easy_init();
  upgrading = curl_easy_init();
  plain_headers = curl_slist_append(NULL, "Content-Type: application/json");
  plain_headers = curl_slist_append(plain_headers, "Expect:");
  upgrade_headers = curl_slist_append(NULL, "Content-Type: application/json");
  upgrade_headers = curl_slist_append(upgrade_headers, "Connection: Upgrade");
  upgrade_headers = curl_slist_append(upgrade_headers, "Upgrade: tcp");
  return (http_client){call};
}
