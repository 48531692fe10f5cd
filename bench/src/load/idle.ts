import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '../processes.ts'
import { checkOf } from './common/expectation.ts'
import { runInOwnProcess } from './common/own-process.ts'
import { mustHaveFiles, openFilesLimit } from './fleet/limits.ts'
import type { LoadPlan } from './load.ts'
import { ReplyScanner } from './raw/reply-scanner.ts'
import { readyRequest } from './requests/request-bytes.ts'

/** Connections that are opened, have one reply each, and are kept. */
export interface IdlePlan extends Pick<LoadPlan, 'url' | 'expect' | 'connections' | 'pin'> {
  readonly path: string
  /** The server's process, whose memory is told. */
  readonly pid: number
}

export interface IdleResult {
  /** Resident memory of the server without the connections, and with all of them (MB). */
  readonly before: number
  readonly after: number
  /** Replies that were not as expected. */
  readonly wrong: number
  /** Connections that were refused, or cut before the end. */
  readonly cut: number
}

/** Opening thousands takes a second or two. */
const LIMIT = 60_000

/** Opens connections in a process of its own. @throws Error when it could not run: too few open files */
export const runIdle = (plan: IdlePlan): Promise<IdleResult> =>
  runInOwnProcess(import.meta.url, 'runIdleHere', plan, LIMIT)

/** Connections that may be opening at once: fewer than servers keep waiting (511 in Node), else packets are dropped. */
const OPENING = 256
/** Milliseconds in which the server may collect what the replies left, and cut what it does not keep. */
const SETTLE = 1000
/** Milliseconds that a reply may take. */
const PATIENCE = 5000

/** Opens connections inside this process. */
export async function runIdleHere({ url, path, expect, connections, pid }: IdlePlan): Promise<IdleResult> {
  mustHaveFiles(connections, 0, openFilesLimit())
  const { hostname, port, host } = new URL(url)
  const { bytes } = readyRequest(host, { method: 'GET', path })
  const check = checkOf(expect)
  const sockets: Socket[] = []
  let wrong = 0

  /** Resolves when there is a reply, or will be none. */
  async function open(): Promise<void> {
    const answered = Promise.withResolvers<void>()
    const scanner = new ReplyScanner(true)
    scanner.begin(false)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, timeout: PATIENCE })
    sockets.push(socket)
    socket.write(bytes)
    socket.on('data', (data) => {
      const state = scanner.feed(data)
      if (state === 'more') return
      socket.setTimeout(0)
      if (state === 'broken' || scanner.left > 0 || scanner.closes) socket.destroy()
      else if (!check(scanner.status, scanner.body)) wrong++
      answered.resolve()
    })
    socket.on('timeout', () => socket.destroy())
    // 'close' follows every error and is where all ends are dealt with.
    socket.on('error', () => {})
    socket.on('close', () => answered.resolve())
    await answered.promise
  }

  const before = residentMegabytes(pid)
  while (sockets.length < connections && sockets.every(({ destroyed }) => !destroyed)) {
    await Promise.all(Array.from({ length: Math.min(OPENING, connections - sockets.length) }, open))
  }
  await delay(SETTLE)
  const after = residentMegabytes(pid)
  const kept = sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length
  for (const socket of sockets) socket.destroy()
  return { before, after, wrong, cut: connections - kept }
}
