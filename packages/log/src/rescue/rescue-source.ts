import { StartError } from '@influencer-stats/runtime/errors'
import type { LogAncestor } from '../successor.ts'

/** State of a node, or a backup of one, from which a log can continue. */
export interface RescueSource {
  /** URL, folder or file. */
  readonly name: string
  readonly position: LogAncestor
  /** Reason why the node takes no writes, such as `LOG_LOST`; undefined if it takes writes, or does not run. */
  readonly writeFault?: string | undefined
  /**
   * Makes the snapshot of the state available, complete and checked, before anything is deleted. Idempotent.
   * @param folder temporary folder
   * @throws StartError
   */
  prepare(folder: string): Promise<PreparedSnapshot>
}

export interface PreparedSnapshot {
  /** Position of the snapshot: that of its source, or a later one if the node has applied more entries. */
  readonly position: LogAncestor
  /** Yields the snapshot of the state machine. */
  read(): AsyncIterable<Buffer>
  close(): Promise<void>
}

/** @param name folder or file with the data */
export const createStandaloneError = (service: string, name: string) =>
  new StartError(
    'NODE_STANDALONE',
    `${name} has the data of a standalone service: \`pnpm ${service} export\` and \`pnpm ${service} import\` move it to a cluster`,
  )
