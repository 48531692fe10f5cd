import { setTimeout as delay } from 'node:timers/promises'
import { getResidentMegabytes } from '../processes.ts'
import { createConnection, type LoadConnection } from './common/load-connection.ts'
import { createCheck } from './common/expectation.ts'
import { createProcessRunner } from './common/process-runner.ts'
import { assertOpenFiles, MAX_CONNECTING } from './fleet/open-files.ts'
import type { LoadPlan } from './load-plan.ts'
import { prepareRequest } from './requests/request-bytes.ts'

/** A run with connections that receive one reply each and then stay idle. */
export interface IdlePlan extends Pick<LoadPlan, 'url' | 'expect' | 'connections'> {
  readonly path: string
  /** The server's process, whose memory is measured. */
  readonly pid: number
}

/** Maximum duration of a run (s). Opening thousands of connections takes one or two seconds. */
const MAX_RUN_S = 60
/** Time in which the server can collect the garbage of the replies, and cut connections (ms). */
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

  /** Opens a connection. Resolves after its reply or its failure. */
  async function open(): Promise<void> {
    const connection = createConnection(target, { firstReplyTimeoutMs: REPLY_TIMEOUT_MS })
    all.push(connection)
    const reply = await connection.request(bytes).catch(() => undefined)
    if (reply?.closes) connection.close()
    else if (reply && !check(reply.status, reply.body)) wrong++
  }

  const before = getResidentMegabytes(pid)
  while (all.length < connections && all.every(({ isOpen }) => isOpen)) {
    await Promise.all(Array.from({ length: Math.min(MAX_CONNECTING, connections - all.length) }, open))
  }
  await delay(SETTLE_MS)
  const after = getResidentMegabytes(pid)
  const openCount = all.filter(({ isOpen }) => isOpen).length
  for (const connection of all) connection.close()
  /**
   * Resident memory of the server without and with the connections (MB), and numbers of wrong replies and of
   * connections that are not open at the end.
   */
  return { before, after, wrong, cut: connections - openCount }
}

/** Opens connections in a new process. @throws Error if the limit of open files is too low */
export const runIdle = createProcessRunner(import.meta.url, measureIdle, MAX_RUN_S)
