import { StartError } from '@influencer-stats/runtime/errors'
import type { LogAncestor, LogDescription } from '../successor.ts'
import type { RescueSource } from './rescue-source.ts'

/** Stream that a rescue finds, and whether it is the log of the positions. */
export type FoundLog = Pick<LogDescription, 'created' | 'ancestor' | 'latestSnapshot'>

type PositionedSource = Pick<RescueSource, 'name' | 'position' | 'writeFault'>

/** Reasons for which a node refuses the next message of its own log. */
const POISONED_CODES = new Set(['LOG_FORMAT_UNKNOWN', 'LOG_DAMAGED'])

/** What a rescue does. */
export type RescuePlan<Source extends PositionedSource = RescueSource> = {
  readonly source: Source
  /** Position after which the log continues. */
  readonly ancestor: LogAncestor
} & (
  | { /** No stream exists. */ readonly action: 'create' }
  | { /** The stream is another log, or lacks entries. */ readonly action: 'replace'; readonly reason: string }
  | { /** The stream continues this log. Its snapshot may be missing. */ readonly action: 'complete' }
  | { /** The stream is the log of the source, and has all its entries. */ readonly action: 'none' }
)

/** Returns the source with the last sequence. @throws StartError `POSITIONS_DIVERGED` */
function findLatest<Source extends PositionedSource>(service: string, sources: readonly Source[]): Source {
  const latest = sources.reduce((best, one) => (one.position.seq > best.position.seq ? one : best))
  const { seq, check } = latest.position
  const other = sources.find(({ position }) => position.seq === seq && position.check !== check)
  if (other) throw createDivergedError(service, latest, other)
  return latest
}

const describe = ({ name, position: { epoch, seq } }: PositionedSource) =>
  `${name} (sequence ${seq} of the log of ${epoch})`

const createDivergedError = (service: string, one: PositionedSource, other: PositionedSource) =>
  new StartError(
    'POSITIONS_DIVERGED',
    `${describe(one)} and ${describe(other)} have different logs: name only nodes of the log that continues; ` +
      `\`pnpm ${service} export\` saves the data of the others`,
  )

/**
 * Chooses the most advanced source, and what to do with the stream.
 * @param findMismatch resolves with the reason why the stream is not the log of a position; undefined if it is
 * @throws StartError `POSITIONS_DIVERGED`
 */
export async function choosePlan<Source extends PositionedSource>(
  service: string,
  sources: readonly [Source, ...Source[]],
  log: FoundLog | undefined,
  findMismatch: (position: LogAncestor) => Promise<string | undefined>,
): Promise<RescuePlan<Source>> {
  const isCurrent = ({ position }: Source) => position.epoch === log?.created
  const current = sources.filter(isCurrent)
  if (log && current.length > 0) {
    const source = findLatest(service, current)
    const { position } = source
    // A node before the ancestor loads the snapshot.
    const diverged = sources.find((one) => !isCurrent(one) && !isBehind(one.position, log.ancestor))
    if (diverged) throw createDivergedError(service, source, diverged)
    const reason = (await findMismatch(position)) ?? describePoison(sources)
    if (reason !== undefined) return { action: 'replace', source, ancestor: position, reason }
    const isComplete = !log.ancestor || log.latestSnapshot !== undefined
    return { action: isComplete ? 'none' : 'complete', source, ancestor: log.ancestor ?? position }
  }
  const other = sources.find(({ position }) => position.epoch !== sources[0].position.epoch)
  if (other) throw createDivergedError(service, sources[0], other)
  const source = findLatest(service, sources)
  const { position } = source
  if (!log) return { action: 'create', source, ancestor: position }
  const { ancestor, latestSnapshot } = log
  // The log was continued before. Nodes behind the ancestor load its snapshot.
  if (isBehind(position, ancestor) && latestSnapshot !== undefined)
    return { action: 'none', source, ancestor: ancestor! }
  if (isEqual(ancestor, position)) return { action: 'complete', source, ancestor: position }
  const reason = ancestor
    ? `it continues after sequence ${ancestor.seq} of the log of ${ancestor.epoch}`
    : 'it is another log'
  return { action: 'replace', source, ancestor: position, reason }
}

/** Returns the reason to replace a log of which all nodes refuse the next message; undefined if a node takes writes. */
function describePoison(sources: readonly PositionedSource[]): string | undefined {
  const [code] = sources.map(({ writeFault = '' }) => writeFault)
  const isPoisoned = sources.every(({ writeFault = '' }) => POISONED_CODES.has(writeFault))
  return isPoisoned ? `all these nodes refuse its next message (${code}); a newer version may know it` : undefined
}

function isBehind(position: LogAncestor, ancestor: LogAncestor | undefined): boolean {
  if (!ancestor) return false
  if (isEqual(ancestor, position)) return true
  if (ancestor.epoch === position.epoch) return position.seq < ancestor.seq
  return (ancestor.ancestors ?? []).some((fork) => fork.epoch === position.epoch && position.seq <= fork.seq)
}

const isEqual = (one: LogAncestor | undefined, { epoch, seq, check }: LogAncestor): boolean =>
  one?.epoch === epoch && one.seq === seq && one.check === check
