/** Descriptor of the first socket that systemd passes to a process. */
const FIRST_DESCRIPTOR = 3

/** A listening socket that systemd, or another program with its protocol (`sd_listen_fds`), has passed to this process. */
export interface ActivatedSocket {
  readonly fd: number
  /** `FileDescriptorName` of the socket unit; systemd's default is the name of the unit. */
  readonly name: string
}

/**
 * Reads which sockets were passed to this process. Removes the variables from `env`: processes that this one starts do
 * not get the sockets.
 */
export function takeActivatedSockets(env: NodeJS.ProcessEnv, pid = process.pid): ActivatedSocket[] {
  const { LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES = '' } = env
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete env[name]
  if (Number(LISTEN_PID) !== pid) return []
  const names = LISTEN_FDNAMES.split(':')
  return Array.from({ length: Number(LISTEN_FDS) || 0 }, (_, i) => ({
    fd: FIRST_DESCRIPTOR + i,
    name: names[i] ?? '',
  }))
}

/**
 * Returns the sockets of a service: all if no other service starts, otherwise those with its name
 * (`FileDescriptorName=kv`, or a socket unit `...@kv.socket`).
 */
export function selectSockets(
  sockets: readonly ActivatedSocket[],
  service: string,
  isAlone: boolean,
): ActivatedSocket[] {
  return isAlone ? [...sockets] : sockets.filter(({ name }) => name === service || name.endsWith(`@${service}.socket`))
}
