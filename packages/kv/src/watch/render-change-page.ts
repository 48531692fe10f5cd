import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import { shouldSendPieces, PieceList } from '@influencer-stats/runtime/piece-list'
import { readChanges, type ChangePage } from '../core/change-pages.ts'
import { toEventText } from '../core/watch-events.ts'
import { ChangePieces } from './change-pieces.ts'

/** Streams that get the same events of a page. */
export interface WatchRecipient {
  readonly connections: { readonly size: number }
  /** Pieces of the page that are rendered already. */
  pieces?: PieceList | undefined
  /** Last change of the current sequence for these streams. */
  change?: ChangePieces | undefined
}

/** Calls `found` with each recipient of a key that changed at a sequence. */
export type FindRecipients<R> = (key: string, seq: number, onFound: (recipient: R) => void) => void

/**
 * Renders a page for the streams of its keys. Recipients of the same changes get the same chunk. If many recipients get
 * different changes, they get a list with one chunk per change: 200 nested ranges then take the memory of one.
 * @returns number of events, in all streams
 */
export function renderChangePage<R extends WatchRecipient>(
  page: ChangePage,
  find: FindRecipients<R>,
  toChunk: ToChunk,
  send: (recipient: R, chunks: readonly Chunk[]) => void,
): number {
  const recipients = new Set<R>()
  const nothing = new PieceList()
  let events = 0
  /** Length of all changes that any stream gets (characters). */
  let length = 0
  for (const { seq, ops } of readChanges(page)) {
    const current: R[] = []
    for (const op of ops) {
      // Rendered for the first stream that gets it.
      let change: ChangePieces | undefined
      find(op.key.toString('latin1'), seq, (recipient) => {
        if (!change) length += (change = new ChangePieces(toEventText(op), seq)).length
        if (recipient.change) recipient.pieces = (recipient.pieces ?? nothing).with(recipient.change.inner)
        else current.push(recipient)
        recipient.change = change
        events += recipient.connections.size
      })
    }
    for (const recipient of current) {
      recipient.pieces = (recipient.pieces ?? nothing).with(recipient.change!.last)
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
