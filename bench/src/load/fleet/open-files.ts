/** Open files of a process in addition to its connections: those of Node itself, and the channel to its parent. */
const RESERVED_FILES = 64
/** Local ports of one address for connections to one server: the minimum of all platforms (Windows, macOS). */
const PORTS_PER_ADDRESS = 16_000

/**
 * Maximum number of connections that open at the same time. It is below the listen backlog of servers (511 in Node),
 * because packets are dropped beyond it.
 */
export const MAX_CONNECTING = 256

/** Returns the limit of open files of this process. When Node starts, it raises its soft limit as far as possible. */
export function getOpenFilesLimit(): number {
  // Without this, the report looks up the host names of connections, which takes seconds.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  const limit = Number(userLimits?.open_files?.soft ?? Infinity)
  return Number.isNaN(limit) ? Infinity : limit
}

/**
 * Checks that this process may open `connections` connections.
 * @throws Error with the required limit, also of the server
 */
export function assertOpenFiles(connections: number, limit = getOpenFilesLimit()): void {
  const needed = connections + RESERVED_FILES
  if (limit >= needed) return
  throw new Error(
    `${connections} connections need a limit of ${needed} open files, and it is ${limit}: ulimit -n ${needed}`,
  )
}

/**
 * Returns the local address of a stream: 127.0.0.1, 127.0.0.2 and so on, in turn (macOS has only the first by default).
 * Undefined if one address has enough ports.
 */
export function getLocalAddress(stream: number, streams: number, host: string): string | undefined {
  const addresses = Math.ceil(streams / PORTS_PER_ADDRESS)
  return addresses > 1 && host.startsWith('127.') ? `127.0.0.${1 + (stream % addresses)}` : undefined
}
