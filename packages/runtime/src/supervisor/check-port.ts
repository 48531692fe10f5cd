import { createServer } from 'node:net'
import { StartError } from '../errors/common-errors.ts'

/** True if several threads can listen on one port on this system. */
export const CAN_REUSE_PORT = process.platform === 'linux'

const reasons: Record<string, string> = {
  EADDRINUSE: 'is in use',
  EACCES: 'requires more permissions than this user has',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not an address of this machine',
}

/** @param code code of the system */
export function createListenError(code = 'LISTEN', host: string, port: number, setting: string): StartError {
  const reason = reasons[code] ?? 'cannot be used as a listen address'
  return new StartError(code, `${host}:${port} ${reason}; choose another with --${setting}`)
}

/**
 * Checks that the port is free. Threads listen with SO_REUSEPORT, which would share the port with another process
 * unnoticed. One bind without that option detects the other process.
 * @param setting name of the port's flag, for the message
 * @throws StartError with the code of the system, such as `EADDRINUSE`
 */
export function checkPortFree(host: string, port: number, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      reject(createListenError(error.code, host, port, setting))
    })
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}
