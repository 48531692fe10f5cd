import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTraceReader, TRACED_CALLS, type SystemCall } from './system-call.ts'

/** A recording of the file operations of processes, which strace makes. */
export interface TraceRecording {
  /** Command under which a program must run to be recorded. */
  readonly under: readonly string[]
  /** Returns the system calls on a folder, in order. Call it after all processes have ended. */
  calls(folder: string): Promise<SystemCall[]>
  /** Removes the recording. */
  remove(): void
}

/** Maximum length of a text in the trace. It is larger than any write, because a truncated text is an error. */
const MAX_TEXT_BYTES = 64 * 1_024 * 1_024

/** strace is a detached process. It traces all threads, with times, paths of descriptors, and texts in hexadecimal. */
const STRACE_ARGS = `-f -D --quiet=all --seccomp-bpf -ttt -T -y -xx -s ${MAX_TEXT_BYTES} -e signal=none`.split(' ')

/** Creates an empty recording. @throws Error if strace is not installed or not permitted */
export function createRecording(): TraceRecording {
  const { status, error } = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'])
  if (status !== 0)
    throw new Error(`strace is required (package strace): ${error?.message ?? `it ended with ${status}`}`)
  const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-trace-'))
  const file = join(folder, 'calls')
  return {
    under: ['strace', ...STRACE_ARGS, '-e', `trace=${TRACED_CALLS}`, '-o', file, '--'],
    async calls(tracedFolder) {
      const name = toHex(tracedFolder)
      const read = createTraceReader()
      const calls: SystemCall[] = []
      for await (const line of createInterface({ input: createReadStream(file) })) {
        // The line of a resumed call does not repeat its arguments, so it may belong to the folder, too.
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
