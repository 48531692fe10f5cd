import { changesOf, type Page } from '../core/changes.ts'
import { changeText } from '../core/watch-events.ts'
import { ChangePieces, PieceList, type Chunk, type ToChunk } from './chunks.ts'
import { PENDING_WRITE_BYTES } from './unread-bytes.ts'

/** Streams that get the same events of a page. */
export interface Recipient {
  readonly connections: { readonly size: number }
  /** Pieces of the page so far. */
  pieces?: PieceList | undefined
  /** Last change of the current sequence for these streams. */
  change?: ChangePieces | undefined
}

/** Calls `found` with each recipient of a key that changed at a sequence. */
export type FindRecipients<R> = (key: string, seq: number, found: (recipient: R) => void) => void

/** Largest memory of joined chunks, as a multiple of the memory of one chunk per change; above it streams get the latter. */
const MAX_JOINED_RATIO = 2

/**
 * Renders a page for the streams of its keys. Recipients of the same changes get the same chunk. If many recipients get
 * different changes, they get a list with one chunk per change: 200 nested ranges then take the memory of one.
 * @returns number of events, in all streams
 */
export function renderPage<R extends Recipient>(
  page: Page,
  find: FindRecipients<R>,
  toChunk: ToChunk,
  send: (recipient: R, chunks: readonly Chunk[]) => void,
): number {
  const recipients = new Set<R>()
  const nothing = new PieceList()
  let events = 0
  /** Length of all changes that any stream gets (characters). */
  let length = 0
  for (const { seq, ops } of changesOf(page)) {
    const current: R[] = []
    for (const op of ops) {
      // Rendered for the first stream that gets it.
      let change: ChangePieces | undefined
      find(op.key.toString('latin1'), seq, (recipient) => {
        if (!change) length += (change = new ChangePieces(changeText(op), seq)).length
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
  const isListed = takesLess(recipients, length)
  for (const recipient of recipients) {
    const pieces = recipient.pieces!
    recipient.pieces = undefined
    send(recipient, isListed ? pieces.listed(toChunk) : [pieces.joined(toChunk)])
  }
  return events
}

/** True if one chunk per change takes much less memory than one chunk per list of changes, if no client reads. */
function takesLess(recipients: Iterable<Recipient>, length: number): boolean {
  const lists = new Set<PieceList>()
  let joined = 0
  let listed = length
  for (const { pieces, connections } of recipients) {
    if (!lists.has(pieces!)) joined += pieces!.length
    lists.add(pieces!)
    joined += connections.size * PENDING_WRITE_BYTES
    listed += connections.size * pieces!.count * PENDING_WRITE_BYTES
  }
  return joined > MAX_JOINED_RATIO * listed
}
