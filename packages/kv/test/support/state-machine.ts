import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { onTestFinished } from 'vitest'
import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import type { WriteCondition } from '../../src/core/write-condition.ts'
import { encodeWrites, WRITES_KIND, type LoggedWrite } from '../../src/core/encode-writes.ts'
import { openKvStateMachine, type KvStateMachine } from '../../src/cluster/kv-state-machine.ts'
import { STATE_KEY } from '../../src/revisions.ts'
import type { KvLevel } from '../../src/store/commit.ts'
import { ChangeFeed } from '../../src/watch/change-feed.ts'
import { openNodeTestLevel } from './level.ts'

/** Opens a state machine on a folder; the test closes it. */
export async function openTestStateMachine(
  folder = createTemporaryFolder(),
): Promise<{ level: KvLevel; machine: KvStateMachine; folder: string }> {
  const level = await openNodeTestLevel(folder)
  onTestFinished(() => level.close())
  return { level, machine: await openKvStateMachine(level, new ChangeFeed(1e6)), folder }
}

/** Returns all rows but the position, in hex. */
export async function readContents({ db }: KvLevel): Promise<[string, string][]> {
  const all: [string, string][] = []
  for await (const [key, value] of db.iterator({ gt: STATE_KEY }))
    all.push([key.toString('hex'), value.toString('hex')])
  return all
}

/** Position at a sequence. */
export const at = (seq: number): LogPosition => ({ epoch: 'e', seq, at: 0, check: 0, writers: [] })
export const createEntry = (seq: number, ...writes: LoggedWrite[]): LogEntry => ({
  seq,
  at: 0,
  kind: WRITES_KIND,
  body: encodeWrites(writes),
})
export const put = (key: string, value: string, condition?: WriteCondition): LoggedWrite => ({
  ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from(value) }],
  ...(condition && { condition: condition }),
})
