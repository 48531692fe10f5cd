import { lookup } from 'node:dns/promises'
import type { ChildProcess } from 'node:child_process'
import net from 'node:net'
import { getSystemErrorName } from 'node:util'
import { StartError } from '../errors/common-errors.ts'
import type { ProcessCommand } from '../channel/process-messages.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import { CAN_REUSE_PORT, checkPortFree, createListenError } from './check-port.ts'
import { waitForRelease } from './wait-for-release.ts'

/**
 * The listening sockets of a service, which its supervisor holds open while one process of the service ends and the
 * next one starts. Clients that connect meanwhile wait in the accept queue. The supervisor itself accepts no connection:
 * a socket listens once the first process listens on it.
 */
export interface HeldListeners {
  /** The settings that the sockets determine: their port and, if another program has bound them, their address. */
  readonly settings: { readonly port: number; readonly host?: string }
  /** Sends the socket of a thread to a process. Every thread has its own socket, as without a supervisor. */
  send(child: ChildProcess, index: number): void
  /** Closes the sockets of threads that a process does not have. @param threads number of its threads */
  trim(threads: number): void
  /** Closes all sockets. Then only the processes that have them keep them open. Idempotent. */
  close(): void
}

/** A socket of libuv, as Node uses it internally. */
interface SocketHandle {
  close(): void
  getsockname(address: object): number
}

/** The function by which Node's module `cluster` binds sockets that its workers share. It is not documented. */
type CreateHandle = (
  host: string | null,
  port: number,
  type: number,
  fd?: number,
  flags?: number,
) => SocketHandle | number

const { _createServerHandle: createHandle } = net as unknown as { _createServerHandle?: CreateHandle }
/** Flag `UV_TCP_REUSEPORT` of libuv. */
const REUSE_PORT = 2
const RETRY_INTERVAL_MS = 100

/** True if this supervisor can hold listening sockets. Otherwise, each process binds its own. */
export const CAN_HOLD_LISTENERS = CAN_REUSE_PORT && createHandle !== undefined

type ListenConfig = Pick<ServiceConfig, 'host' | 'port' | 'threads'>

export interface BindOptions {
  readonly name: string
  readonly config: ListenConfig
  /** Time to wait for a port that another process, such as a predecessor that drains, has in use (ms). */
  readonly timeout: number
  readonly stopped: AbortSignal
  /** Called once if the port is in use. */
  onWait(reason: string): void
}

/**
 * Uses sockets that listen already, and that another program holds. Their threads share them.
 * @throws StartError `SOCKET_WRONG` if a descriptor is no TCP socket
 */
export function adoptListeners(name: string, descriptors: readonly number[]): HeldListeners {
  return holdListeners(
    descriptors.map((fd) => {
      const handle = createHandle!(null, 0, 0, fd)
      if (typeof handle === 'number')
        throw new StartError(
          'SOCKET_WRONG',
          `${name}: descriptor ${fd} is no listening TCP socket (${getSystemErrorName(handle)})`,
        )
      return handle
    }),
  )
}

/**
 * Binds the port of a service.
 * @throws StartError with the code of the system, such as `EADDRINUSE`
 */
export async function bindListeners({ name, config, timeout, stopped, onWait }: BindOptions): Promise<HeldListeners> {
  const { host, port } = config
  const setting = `${name}.port`
  await waitForRelease(() => checkPortFree(host, port, setting), {
    code: 'EADDRINUSE',
    timeout,
    interval: RETRY_INTERVAL_MS,
    stopped,
    describe: () => `${host}:${port} is in use`,
    onWait,
  })
  const type = net.isIP(host)
  const { address, family } = type ? { address: host, family: type } : await lookup(host)
  // The main thread needs no second socket. Without the flag, no other process can share the port unnoticed.
  const flags = config.threads === '0' ? 0 : REUSE_PORT
  const bind = (boundPort: number) => {
    const handle = createHandle!(address, boundPort, family, undefined, flags)
    if (typeof handle === 'number') throw createListenError(getSystemErrorName(handle), host, port, setting)
    return handle
  }
  return holdListeners([bind(port)], bind)
}

/** @param bind creates one more socket for a port. Default: threads share the sockets. */
function holdListeners(handles: SocketHandle[], bind?: (port: number) => SocketHandle): HeldListeners {
  const bound = {} as { address: string; port: number }
  handles[0]!.getsockname(bound)
  const { address: host, port } = bound
  return {
    settings: bind ? { port } : { port, host },
    send(child, index) {
      const handle = bind ? (handles[index] ??= bind(port)) : handles[index % handles.length]!
      child.send({ kind: 'listener', index } satisfies ProcessCommand, handle as never)
    },
    trim(threads) {
      if (!bind) return
      for (const handle of handles.splice(Math.max(1, threads))) handle?.close()
    },
    close() {
      for (const handle of handles.splice(0)) handle?.close()
    },
  }
}
