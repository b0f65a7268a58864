/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "link/link_private.h"

static cdam_link *link_of_work(cdam_posted *posted) {
  return (cdam_link *)(void *)((char *)posted - offsetof(cdam_link, work));
}

static cdam_link *link_of_loop_end(cdam_posted *posted) {
  return (cdam_link *)(void *)((char *)posted - offsetof(cdam_link, loop_end));
}

/* ---- its life ---- */

static void destroy(cdam_link *link) {
  if (link->loop) {
    cdam_loop_unpost(link->loop, &link->work);
    cdam_loop_forget_end(link->loop, &link->loop_end);
  }
  cdam_stdcopy_clear(&link->demux);
  cdam_frame_reader_clear(&link->reader);
  cdam_frame_decoder_clear(&link->decoder);
  free(link->slots);
  free(link->workspace);
  free(link);
}

static void hang_up(cdam_link *link) {
  if (link->duplex) link->transport->close(link->duplex);
  link->duplex = NULL;
}

static void work(cdam_posted *posted) {
  cdam_link *link = link_of_work(posted);
  cdam_link_ref(link);
  if (link->state == CDAM_LINK_BROKEN)
    cdam_link_close_all(link);
  else
    cdam_link_close_unsent(link);
  cdam_link_unref(link);
}

static void loop_ended(cdam_posted *posted) {
  cdam_link *link = link_of_loop_end(posted);
  cdam_error gone;
  cdam_fail(&gone, CDAM_ERR_CANCELLED, "the loop was freed");
  link->refs++;
  cdam_link_break(link, &gone);
  cdam_loop_unpost(link->loop, &link->work);
  link->loop = NULL;
  cdam_link_close_all(link);
  cdam_link_unref(link);
}

cdam_link *cdam_link_new(cdam_loop *loop, const char *container_id, cdam_error *err) {
  cdam_link *link = calloc(1, sizeof *link);
  if (!link) {
    cdam_fail_memory(err);
    return NULL;
  }
  link->refs = 1;
  link->loop = loop;
  snprintf(link->container_id, sizeof link->container_id, "%s", container_id);
  cdam_operation_init_in(&link->op, loop);
  link->work.run = work;
  link->loop_end.run = loop_ended;
  cdam_loop_on_end(loop, &link->loop_end);
  TAILQ_INIT(&link->channels);
  TAILQ_INIT(&link->openings);
  return link;
}

cdam_link *cdam_link_ref(cdam_link *link) {
  link->refs++;
  return link;
}

void cdam_link_unref(cdam_link *link) {
  if (!link || --link->refs) return;
  link->state = CDAM_LINK_BROKEN;
  hang_up(link);
  cdam_operation_finish(&link->op, CDAM_OK, NULL);
  destroy(link);
}

bool cdam_link_is_broken(const cdam_link *link) {
  return !link->loop || cdam_link_is_ending(link);
}

bool cdam_link_has_ended(const cdam_link *link) {
  return cdam_link_is_broken(link) || (link->duplex && link->transport->has_hung_up(link->duplex));
}

cdam_loop *cdam_link_loop(const cdam_link *link) {
  return link->loop;
}

const char *cdam_link_instance(const cdam_link *link) {
  return link->instance;
}

const char *cdam_link_workspace(const cdam_link *link) {
  return link->workspace ? link->workspace : "";
}

/* ---- its end ---- */

void cdam_link_break(cdam_link *link, const cdam_error *why) {
  if (link->state == CDAM_LINK_BROKEN) return;
  if (why != &link->trouble) link->trouble = *why;
  link->state = CDAM_LINK_BROKEN;
  hang_up(link);
  cdam_operation_finish(&link->op, link->trouble.code, &link->trouble);
  cdam_loop_post(link->loop, &link->work);
}

void cdam_link_end(cdam_link *link, const cdam_error *why) {
  if (cdam_link_is_ending(link)) return;
  if (why->code == CDAM_ERR_NO_MEMORY) {
    cdam_link_break(link, why);
    return;
  }
  link->trouble = *why;
  link->state = CDAM_LINK_ENDING;
  hang_up(link);
  cdam_operation_drop_all(&link->op);
  link->timer = NULL;
  cdam_link_explain(link);
}
