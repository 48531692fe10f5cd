import { setTimeout as delay } from 'node:timers/promises'
import { getResidentMegabytes } from '../processes.ts'
import { createConnection, type LoadConnection } from './common/load-connection.ts'
import { createCheck } from './common/expectation.ts'
import { createProcessRunner } from './common/process-runner.ts'
import { assertOpenFiles } from './fleet/open-files.ts'
import type { LoadPlan } from './load-plan.ts'
import { prepareRequest } from './requests/request-bytes.ts'

/** Connections that open, receive one reply each, and stay idle. */
export interface IdlePlan extends Pick<LoadPlan, 'url' | 'expect' | 'connections'> {
  readonly path: string
  /** The server's process, whose memory is measured. */
  readonly pid: number
}

/** Longest run (s): opening thousands of connections takes one or two seconds. */
const MAX_RUN_S = 60
/**
 * Maximum number of opening connections: below the listen backlog of servers (511 in Node), else packets are dropped.
 */
const MAX_OPENING = 256
/** Time in which the server may collect garbage of the replies, and cut connections (ms). */
const SETTLE_MS = 1000
/** Reply timeout (ms). */
const REPLY_TIMEOUT_MS = 5000

export async function measureIdle({ url, path, expect, connections, pid }: IdlePlan) {
  assertOpenFiles(connections)
  const target = new URL(url)
  const { bytes } = prepareRequest(target.host, { method: 'GET', path })
  const check = createCheck(expect)
  const all: LoadConnection[] = []
  let wrong = 0

  /** Resolves on a reply, or on a failure. */
  async function open(): Promise<void> {
    const connection = createConnection(target, { firstReplyTimeoutMs: REPLY_TIMEOUT_MS })
    all.push(connection)
    const reply = await connection.request(bytes).catch(() => undefined)
    if (reply?.closes) connection.close()
    else if (reply && !check(reply.status, reply.body)) wrong++
  }

  const before = getResidentMegabytes(pid)
  while (all.length < connections && all.every(({ isOpen }) => isOpen)) {
    await Promise.all(Array.from({ length: Math.min(MAX_OPENING, connections - all.length) }, open))
  }
  await delay(SETTLE_MS)
  const after = getResidentMegabytes(pid)
  const openCount = all.filter(({ isOpen }) => isOpen).length
  for (const connection of all) connection.close()
  /**
   * Resident memory of the server without and with the connections (MB); connections refused, or cut before the end.
   */
  return { before, after, wrong, cut: connections - openCount }
}

/** Opens connections in a new process. @throws Error if it cannot run: too few open files */
export const runIdle = createProcessRunner(import.meta.url, measureIdle, MAX_RUN_S)
