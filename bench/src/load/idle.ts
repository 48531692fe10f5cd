import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '../processes.ts'
import { createConnection, type Connection } from './common/connection.ts'
import { checkOf } from './common/expectation.ts'
import { inOwnProcess } from './common/own-process.ts'
import { mustHaveFiles } from './fleet/limits.ts'
import type { LoadPlan } from './load.ts'
import { readyRequest } from './requests/request-bytes.ts'

/** Connections that are opened, have one reply each, and are kept. */
export interface IdlePlan extends Pick<LoadPlan, 'url' | 'expect' | 'connections'> {
  readonly path: string
  /** The server's process, whose memory is told. */
  readonly pid: number
}

/** Seconds: opening thousands takes one or two. */
const LIMIT = 60
/** Connections that may be opening at once: fewer than servers keep waiting (511 in Node), else packets are dropped. */
const OPENING = 256
/** Milliseconds in which the server may collect what the replies left, and cut what it does not keep. */
const SETTLE = 1000
/** Milliseconds that a reply may take. */
const PATIENCE = 5000

export async function idleHere({ url, path, expect, connections, pid }: IdlePlan) {
  mustHaveFiles(connections)
  const target = new URL(url)
  const { bytes } = readyRequest(target.host, { method: 'GET', path })
  const check = checkOf(expect)
  const all: Connection[] = []
  let wrong = 0

  /** Resolves when there is a reply, or will be none. */
  async function open(): Promise<void> {
    const connection = createConnection(target, { patience: PATIENCE })
    all.push(connection)
    const reply = await connection.ask(bytes).catch(() => undefined)
    if (reply?.closes) connection.close()
    else if (reply && !check(reply.status, reply.body)) wrong++
  }

  const before = residentMegabytes(pid)
  while (all.length < connections && all.every(({ isOpen }) => isOpen)) {
    await Promise.all(Array.from({ length: Math.min(OPENING, connections - all.length) }, open))
  }
  await delay(SETTLE)
  const after = residentMegabytes(pid)
  const kept = all.filter(({ isOpen }) => isOpen).length
  for (const connection of all) connection.close()
  /** Resident memory of the server without the connections and with them (MB); connections refused, or cut before the end. */
  return { before, after, wrong, cut: connections - kept }
}

/** Opens connections in a process of its own. @throws Error when it could not run: too few open files */
export const runIdle = inOwnProcess(import.meta.url, idleHere, LIMIT)
