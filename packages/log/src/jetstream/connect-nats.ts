import { StartError } from '@influencer-stats/runtime/errors'
import {
  connect,
  credsAuthenticator,
  errors as natsErrors,
  nkeyAuthenticator,
  type Authenticator,
  type NatsConnection,
} from '@nats-io/transport-node'
import { readFileSync } from 'node:fs'
import type { NatsOptions } from './options.ts'

/** A connection that comes back by itself for as long as it is not closed. */
export interface LogConnection {
  readonly nc: NatsConnection
  /** Whether it is there at present. */
  isUp(): boolean
}

/** @throws StartError */
function readNatsFile(service: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError('NATS_FILE_UNREADABLE', `${service}: ${file} cannot be read (${code})`)
  }
}

function createAuthenticators(service: string, { credentials, nkey }: NatsOptions): Authenticator[] {
  return [
    ...(credentials
      ? [checkAuthenticator(service, credentials, credsAuthenticator(readNatsFile(service, credentials)))]
      : []),
    ...(nkey
      ? [
          checkAuthenticator(
            service,
            nkey,
            nkeyAuthenticator(Buffer.from(readNatsFile(service, nkey).toString().trim())),
          ),
        ]
      : []),
  ]
}

/** The client looks into a file when a server asks for it, and says of one that holds something else what it says of a server that is away. @throws StartError */
function checkAuthenticator(service: string, file: string, authenticator: Authenticator): Authenticator {
  try {
    authenticator('nonce')
  } catch {
    // Not why: what the file holds is a secret, be it none of NATS.
    throw new StartError('NATS_FILE_UNREADABLE', `${service}: ${file} holds no key of a user of NATS`)
  }
  return authenticator
}

/** Addresses without who is to log in, and that apart: the client would ignore it where it stands. */
function splitUrls(service: string, servers: readonly string[]) {
  let login: { user: string; pass?: string } | undefined
  const hosts = servers.map((server) => {
    const url = URL.parse(server.includes('://') ? server : `nats://${server}`)
    // Not what was given: a password may be in it.
    if (!url?.hostname)
      throw new StartError('NATS_URL_WRONG', `${service}: an address of natsUrl is not nats://host:port`)
    const pass = url.password && { pass: decodeURIComponent(url.password) }
    if (url.username) login ??= { user: decodeURIComponent(url.username), ...pass }
    return { url: `${url.protocol}//${url.host}`, host: url.host, isSecure: url.protocol === 'tls:' }
  })
  return { hosts, login }
}

/** @throws StartError `NATS_UNREACHABLE`, `NATS_FORBIDDEN`, `NATS_URL_WRONG`, `NATS_FILE_UNREADABLE` */
export async function connectNats(
  service: string,
  options: NatsOptions,
  onChange: (isUp: boolean) => void,
): Promise<LogConnection> {
  const { hosts, login } = splitUrls(service, options.servers)
  const { ca, cert, key } = options
  const isSecure = Boolean(ca || cert) || hosts.some((host) => host.isSecure)
  const readText = (file: string) => readNatsFile(service, file).toString()
  const names = hosts.map(({ host }) => host).join(', ')
  let nc: NatsConnection
  try {
    nc = await connect({
      servers: hosts.map(({ url }) => url),
      name: `influencer-stats ${service}`,
      ...login,
      authenticator: login ? undefined : createAuthenticators(service, options),
      ...(isSecure && {
        tls: {
          ...(ca && { ca: readText(ca) }),
          ...(cert && { cert: readText(cert) }),
          ...(key && { key: readText(key) }),
        },
      }),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      // A server that stands still is left after 1.5 s.
      pingInterval: 500,
      maxPingOut: 2,
      timeout: 3_000,
      ignoreAuthErrorAbort: true,
      // Two stacks a request, which nobody looks at: a tenth of its time.
      noAsyncTraces: true,
    })
  } catch (error) {
    if (error instanceof StartError) throw error
    const isLogin =
      error instanceof natsErrors.AuthorizationError || /authorization|authentication/i.test(String(error))
    if (isLogin) throw new StartError('NATS_FORBIDDEN', `${service}: NATS at ${names} refuses these credentials`)
    throw new StartError('NATS_UNREACHABLE', `${service}: no server of NATS can be reached at ${names}`)
  }
  let isUp = true
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue
      isUp = type === 'reconnect'
      onChange(isUp)
    }
  })()
  return { nc, isUp: () => isUp }
}
