import { formatBody, type PreparedReply } from '../../src/core/prepared-reply.ts'

/** Returns the content of a reply. */
export const parseReply = (reply: PreparedReply | undefined, stale = false): any =>
  reply && JSON.parse(formatBody(reply, stale))
