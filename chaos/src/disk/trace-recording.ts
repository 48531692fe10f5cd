import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTraceReader, TRACED_CALLS, type SystemCall } from './system-call.ts'

/** A record of what processes do to their files, kept by strace. */
export interface TraceRecording {
  /** What the command has to be run under. */
  readonly under: readonly string[]
  /** Once all of them have ended: the calls that concern a folder, in the order in which they were done. */
  calls(folder: string): Promise<SystemCall[]>
  /** Removes what was kept. */
  remove(): void
}

/** More than the largest write: a text that is cut short is an error. */
const MAX_TEXT_BYTES = 64 * 1_024 * 1_024

/** Of all threads, by a process apart, which may be killed with them; with times, paths of descriptors, texts in hexadecimal. */
const STRACE_ARGS = `-f -D --quiet=all --seccomp-bpf -ttt -T -y -xx -s ${MAX_TEXT_BYTES} -e signal=none`.split(' ')

/** @throws Error where strace is not installed or may not be used */
export function createRecording(): TraceRecording {
  const { status, error } = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'])
  if (status !== 0)
    throw new Error(`strace (a package of that name) is needed: ${error?.message ?? `it ended with ${status}`}`)
  const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-trace-'))
  const file = join(folder, 'calls')
  return {
    under: ['strace', ...STRACE_ARGS, '-e', `trace=${TRACED_CALLS}`, '-o', file, '--'],
    async calls(about) {
      const name = toHex(about)
      const read = createTraceReader()
      const calls: SystemCall[] = []
      for await (const line of createInterface({ input: createReadStream(file) })) {
        // What a thread resumes does not say what it is about, what it ends may free a descriptor.
        if (!line.includes(name) && !line.includes(' resumed>')) continue
        for (const call of read(line)) if (call.args.some((arg) => arg.includes(name))) calls.push(call)
      }
      return calls
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const toHex = (text: string) =>
  Array.from(Buffer.from(text), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
