/** A phase of a system call on a file. Each call is reported when it begins and again when it ends. */
export interface SystemCall {
  readonly phase: 'begun' | 'ended'
  readonly name: string
  /** Arguments in the format of `strace -xx`. */
  readonly args: readonly string[]
  /** Return value; NaN when the call begins. If it is negative, the call failed and had no effect. */
  readonly result: number
  /** Time of this phase (seconds since 1970). */
  readonly at: number
}

/** All calls that change a folder or make it durable, including calls that `DiskModel` refuses. */
export const TRACED_CALLS =
  'open,openat,creat,close,lseek,dup,dup2,dup3,' +
  'write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,' +
  'rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,' +
  'sendfile,copy_file_range,splice,mmap,fsync,fdatasync,sync,syncfs,sync_file_range,msync'

const LINE = /^(\d+) +(\d+\.\d+) (.*)$/s
const WHOLE_CALL = /^(\w+)\((.*)\) += (-?\d+|0x[\da-f]+|\?).*?(?: <(\d+\.\d+)>)?$/s
const UNFINISHED = ' <unfinished ...>'
const RESUMED = /^<\.\.\. (\w+) resumed>/

/**
 * Creates a parser of the lines of `strace -f -ttt -T -y -xx`. It returns the phases that a line reports. Lines of
 * several threads interleave.
 */
export function createTraceReader(): (line: string) => SystemCall[] {
  /** Text of the unfinished call of each thread. */
  const begun = new Map<string, string>()

  return (line) => {
    const [, thread, time, text] = LINE.exec(line) ?? []
    if (!thread || !text) return []
    const at = Number(time)
    if (text.endsWith(UNFINISHED)) {
      const start = text.slice(0, -UNFINISHED.length)
      begun.set(thread, start)
      const open = start.indexOf('(')
      return [{ phase: 'begun', name: start.slice(0, open), args: split(start.slice(open + 1)), result: NaN, at }]
    }
    const resumed = RESUMED.exec(text)
    const whole = resumed ? (begun.get(thread) ?? '') + text.slice(resumed[0].length) : text
    begun.delete(thread)
    const [, name, args, result, took] = WHOLE_CALL.exec(whole) ?? []
    // Other lines: a signal, the end of a thread, or the end of a call whose beginning `trace-recording.ts` omitted.
    if (!name) return []
    const call = { name, args: split(args!), result: Number(result) }
    // The line of a resumed call has the time of its end.
    if (resumed) return [{ ...call, phase: 'ended', at }]
    return [
      { ...call, phase: 'begun', result: NaN, at },
      { ...call, phase: 'ended', at: at + Number(took ?? 0) },
    ]
  }
}

// Texts are hexadecimal, so every comma separates two arguments.
const split = (args: string) => (args === '' ? [] : args.split(/, ?/))

/** Returns the bytes of a text, `"\x61\x62"`. @throws Error if strace truncated the text */
export function parseBytes(text: string): Buffer {
  if (!text.endsWith('"')) throw new Error('the trace has only the first part of a text')
  return Buffer.from(text.slice(1, -1).replaceAll('\\x', ''), 'hex')
}

const DESCRIPTOR = /^(\d+|AT_FDCWD)(?:<(.*)>)?$/

/** Returns the number and path of a descriptor, `3<\x2f\x61>`. */
export function parseDescriptor(text: string): { fd: number; path: string } {
  const [, fd, path = ''] = DESCRIPTOR.exec(text) ?? []
  return { fd: Number(fd), path: Buffer.from(path.replaceAll('\\x', ''), 'hex').toString() }
}
