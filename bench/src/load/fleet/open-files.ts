/** Open files of a process besides its connections: those of Node itself, and the channel to its parent. */
const RESERVED_FILES = 64
/** Ports of one address for connections to the same server: the smallest number of all platforms (Windows, macOS). */
const PORTS_PER_ADDRESS = 16_000

/** Limit of open files of this process. Node raises its own soft limit as far as possible when it starts. */
export function getOpenFilesLimit(): number {
  // Otherwise the report looks up the names of peers, which takes seconds.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  const limit = Number(userLimits?.open_files?.soft ?? Infinity)
  return Number.isNaN(limit) ? Infinity : limit
}

/** @throws Error that contains the limit needed for `connections` connections, here and at the server */
export function assertOpenFiles(connections: number, limit = getOpenFilesLimit()): void {
  const needed = connections + RESERVED_FILES
  if (limit >= needed) return
  throw new Error(
    `${connections} connections need a limit of ${needed} open files, and it is ${limit}: ulimit -n ${needed}`,
  )
}

/**
 * Local address of a stream, if one address has too few ports: 127.0.0.1, 127.0.0.2 and so on, in turn.
 * (macOS has only the first by default.)
 */
export function getLocalAddress(stream: number, streams: number, host: string): string | undefined {
  const addresses = Math.ceil(streams / PORTS_PER_ADDRESS)
  return addresses > 1 && host.startsWith('127.') ? `127.0.0.${1 + (stream % addresses)}` : undefined
}
