/** Files that a process has open beside its connections: what Node itself keeps, and the way to its parent. */
const RESERVED_FILES = 64
/** Ports that one address has for connections to the same server: the fewest of the platforms (Windows, macOS). */
const PORTS_PER_ADDRESS = 16_000

/** How many files a process may have open: Node raises its own limit as far as it may when it starts. */
export function getOpenFilesLimit(): number {
  // Otherwise it looks up the names of peers, which takes seconds.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  const limit = Number(userLimits?.open_files?.soft ?? Infinity)
  return Number.isNaN(limit) ? Infinity : limit
}

/** @throws Error that names the limit needed, for so many connections and as much for the server */
export function assertOpenFiles(connections: number, limit = getOpenFilesLimit()): void {
  const needed = connections + RESERVED_FILES
  if (limit >= needed) return
  throw new Error(
    `${connections} connections need a limit of ${needed} open files, and it is ${limit}: ulimit -n ${needed}`,
  )
}

/**
 * The address that a stream connects from, where one has too few ports for all: 127.0.0.1, 127.0.0.2 and so on in turn.
 * (macOS has only the first unless told otherwise.)
 */
export function getLocalAddress(stream: number, streams: number, host: string): string | undefined {
  const addresses = Math.ceil(streams / PORTS_PER_ADDRESS)
  return addresses > 1 && host.startsWith('127.') ? `127.0.0.${1 + (stream % addresses)}` : undefined
}
