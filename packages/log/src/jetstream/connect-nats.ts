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

/** Connection to a NATS server. It reconnects automatically until it is closed. */
export interface LogConnection {
  readonly nc: NatsConnection
  /** True while it is connected. */
  isUp(): boolean
  /** True while the servers refuse to reconnect with these credentials. */
  isForbidden(): boolean
}

/** @throws StartError `NATS_FILE_UNREADABLE` */
function readNatsFile(service: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError('NATS_FILE_UNREADABLE', `${service}: ${file} cannot be read (${code})`)
  }
}

function createAuthenticators(service: string, { credentials, nkey }: NatsOptions): Authenticator[] {
  const authenticators: Authenticator[] = []
  if (credentials) authenticators.push(createAuthenticator(service, credentials, credsAuthenticator))
  if (nkey)
    authenticators.push(
      createAuthenticator(service, nkey, (seed) => nkeyAuthenticator(Buffer.from(seed.toString().trim()))),
    )
  return authenticators
}

/**
 * Creates an authenticator, and checks its key file early. The client reads the file only when a server requires a
 * login. The client's error for an invalid file is the same as for an unreachable server.
 * @throws StartError `NATS_FILE_UNREADABLE`
 */
function createAuthenticator(service: string, file: string, create: (key: Buffer) => Authenticator): Authenticator {
  const authenticator = create(readNatsFile(service, file))
  try {
    authenticator('nonce')
  } catch {
    // The message leaves out the cause: the content of the file is a secret, even if it is not a NATS key.
    throw new StartError('NATS_FILE_UNREADABLE', `${service}: ${file} contains no NATS user key`)
  }
  return authenticator
}

/**
 * Separates users and passwords from the addresses, because the client ignores them in an address. The login is that
 * of the first address with a user.
 * @throws StartError `NATS_URL_WRONG`
 */
function splitUrls(service: string, servers: readonly string[]) {
  let login: { user: string; pass?: string } | undefined
  const hosts = servers.map((server) => {
    const url = URL.parse(server.includes('://') ? server : `nats://${server}`)
    // The message leaves out the address: it may contain a password.
    if (!url?.hostname)
      throw new StartError('NATS_URL_WRONG', `${service}: an address of --cluster is not nats://host:port`)
    const pass = url.password && { pass: decodeURIComponent(url.password) }
    if (url.username) login ??= { user: decodeURIComponent(url.username), ...pass }
    return { url: `${url.protocol}//${url.host}`, host: url.host, isSecure: url.protocol === 'tls:' }
  })
  return { hosts, login }
}

/**
 * Connects to one of the servers.
 * @param onChange called when the connection is lost, and when it is restored
 * @throws StartError `NATS_UNREACHABLE`, `NATS_FORBIDDEN`, `NATS_URL_WRONG`, `NATS_FILE_UNREADABLE`
 */
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
      // The client disconnects from a server that does not respond for 1.5 s, such as a suspended one.
      pingInterval: 500,
      maxPingOut: 2,
      timeout: 3_000,
      ignoreAuthErrorAbort: true,
      // Otherwise the client records two stack traces for each request. They take a tenth of the time of a request, and
      // have no use here.
      noAsyncTraces: true,
    })
  } catch (error) {
    if (error instanceof StartError) throw error
    if (isLoginError(error))
      throw new StartError('NATS_FORBIDDEN', `${service}: NATS at ${names} refused these credentials`)
    throw new StartError('NATS_UNREACHABLE', `${service}: no NATS server is reachable at ${names}`)
  }
  let isUp = true
  let isForbidden = false
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'error') isForbidden ||= isLoginError(status.error)
      if (status.type !== 'disconnect' && status.type !== 'reconnect') continue
      isUp = status.type === 'reconnect'
      isForbidden = false
      onChange(isUp)
    }
  })()
  return { nc, isUp: () => isUp, isForbidden: () => isForbidden }
}

const isLoginError = (error: unknown): boolean =>
  error instanceof natsErrors.AuthorizationError || /authorization|authentication/i.test(String(error))
