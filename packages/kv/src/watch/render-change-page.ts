import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import { shouldSendPieces, PieceList } from '@influencer-stats/runtime/piece-list'
import { readChanges, type ChangePage } from '../core/change-pages.ts'
import { toEventText } from '../lines/watch-events.ts'
import { ChangePieces } from './change-pieces.ts'

/** Streams that get the same events. Rendering uses the fields `pieces` and `change`, and clears them at its end. */
export interface WatchRecipient {
  /** `size` is the number of streams. */
  readonly connections: { readonly size: number }
  /** Events of the page that are rendered so far. */
  pieces?: PieceList | undefined
  /** Last change so far of the current sequence. Its form depends on the next one: see `ChangePieces`. */
  change?: ChangePieces | undefined
}

/**
 * Calls `onFound` with each recipient of a change.
 * @param key changed key, with one character per byte
 * @param seq sequence of the change
 */
export type FindRecipients<R> = (key: string, seq: number, onFound: (recipient: R) => void) => void

/**
 * Renders the changes of a page, and sends them to the recipients. Recipients of the same changes share one chunk. If
 * many recipients get different changes, each gets a list with one chunk per change, and they share these chunks: 200
 * nested ranges then take the memory of one.
 * @param find finds the recipients of a change
 * @param toChunk creates a chunk from text
 * @param send called once for each recipient, with all its events
 * @returns number of events, counted once for each stream
 */
export function renderChangePage<R extends WatchRecipient>(
  page: ChangePage,
  find: FindRecipients<R>,
  toChunk: ToChunk,
  send: (recipient: R, chunks: readonly Chunk[]) => void,
): number {
  const recipients = new Set<R>()
  const emptyList = new PieceList()
  let events = 0
  /** Length of all changes that any stream gets (characters). */
  let length = 0
  for (const { seq, ops } of readChanges(page)) {
    const current: R[] = []
    for (const op of ops) {
      // A change is rendered once, when the first recipient is found.
      let change: ChangePieces | undefined
      find(op.key.toString('latin1'), seq, (recipient) => {
        if (!change) length += (change = new ChangePieces(toEventText(op), seq)).length
        if (recipient.change) recipient.pieces = (recipient.pieces ?? emptyList).with(recipient.change.inner)
        else current.push(recipient)
        recipient.change = change
        events += recipient.connections.size
      })
    }
    for (const recipient of current) {
      recipient.pieces = (recipient.pieces ?? emptyList).with(recipient.change!.last)
      recipient.change = undefined
      recipients.add(recipient)
    }
  }
  const lists = Array.from(recipients, ({ pieces, connections }) => ({ pieces: pieces!, streams: connections.size }))
  const isListed = shouldSendPieces(lists, length)
  for (const recipient of recipients) {
    const pieces = recipient.pieces!
    recipient.pieces = undefined
    send(recipient, isListed ? pieces.toChunkList(toChunk) : [pieces.toJoinedChunk(toChunk)])
  }
  return events
}
