import { openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { once } from 'node:events'
import { basename, join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Registry } from '../src/metrics/prom-client.ts'
import { buildConfig, type Overrides } from '../src/supervisor/embed.ts'
import { startService } from '../src/supervisor/service-host.ts'
import { createLogger } from '../src/logging/logger.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { openCertificate } from '../src/tls/certificate.ts'
import { counter as definition } from './fixtures/services.ts'
import { createSelfSigned, type SelfSignedCertificate } from './support/certificate.ts'
import { SERVICES_URL } from './support/counter-service.ts'
import { formatRequest, takeReply, type RawReply } from './support/raw-client.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

const HOT_PATH = '/items/ab/view'
const HOUR_MS = 3_600_000

/** A counter with TLS, its files and its log lines. */
async function start(settings: Overrides = {}) {
  const folder = createTemporaryFolder()
  const [tlsCert, tlsKey, log] = ['cert', 'key', 'log'].map((name) => join(folder, name)) as [string, string, string]
  const put = ({ cert, key }: SelfSignedCertificate) => {
    writeFileSync(tlsCert, cert)
    writeFileSync(tlsKey, key)
  }
  const first = createSelfSigned()
  put(first)
  const config = buildConfig(definition, {
    port: 0,
    threads: 0,
    hot: 'yes',
    requestLogSampling: 0,
    tlsCert,
    tlsKey,
    ...settings,
  })
  const options = { services: SERVICES_URL, definition, config, log: createLogger('info', {}, [], openSync(log, 'a')) }
  const running = await startService(options)
  onTestFinished(async () => void (await running.stop()))
  const lines = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { running, port: Number(new URL(running.url).port), first, put, tlsCert, tlsKey, lines }
}

/** A connection that trusts only the given certificate. */
async function open(port: number, { cert }: SelfSignedCertificate): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket.setEncoding('latin1')
}

/** Sends a text. @returns the given number of replies */
function readReplies(socket: TLSSocket, text: string, count = 1): Promise<RawReply[]> {
  const { promise, resolve, reject } = Promise.withResolvers<RawReply[]>()
  let input = ''
  const found: RawReply[] = []
  function onData(part: string) {
    input += part
    for (let whole = takeReply(input); whole; whole = takeReply(input)) {
      found.push(whole.reply)
      input = whole.rest
    }
    if (found.length < count) return
    socket.off('data', onData)
    resolve(found)
  }
  socket.on('data', onData).once('close', () => reject(new Error(`closed after ${input}`)))
  socket.write(text, 'latin1')
  return promise
}

const statuses = (all: readonly RawReply[]) => all.map(({ status }) => status)

describe.each(SERVERS)('%s speaks TLS', (server) => {
  test('on hot routes and others, on one connection, in pieces and in a pipeline, large and small', async () => {
    const { running, port, first } = await start({ server })
    expect(running.url).toMatch(/^https:/)
    const socket = await open(port, first)
    expect(socket.alpnProtocol).toBe(false)
    const body = 'x'.repeat(100_000)
    const put = formatRequest('PUT', '/items/a', { 'content-type': 'text/plain' }, body)
    const pipeline = formatRequest('GET', HOT_PATH).repeat(3) + put + formatRequest('GET', '/large/bytes')
    expect(statuses(await readReplies(socket, pipeline, 5))).toEqual([200, 200, 200, 200, 200])
    const half = formatRequest('GET', HOT_PATH)
    socket.write(half.slice(0, 20))
    expect(statuses(await readReplies(socket, half.slice(20)))).toEqual([200])
    expect(
      statuses(await readReplies(socket, formatRequest('GET', '/value') + formatRequest('GET', HOT_PATH), 2)),
    ).toEqual([200, 200])
  })

  test('and stops cleanly during an unfinished handshake', async () => {
    // No timeout ends a connection: only the stop does.
    const never = {
      shutdownTimeout: HOUR_MS,
      headersTimeout: HOUR_MS,
      requestTimeout: HOUR_MS,
      keepAliveTimeout: HOUR_MS,
    }
    const { running, port, first } = await start({ server, ...never })
    const silent = connectPlain(port, '127.0.0.1')
    await once(silent, 'connect')
    const socket = await open(port, first)
    const gate = createTemporaryFolder()
    const later = formatRequest('GET', `/gated-later/${basename(gate)}`)
    const answered = readReplies(socket, formatRequest('GET', HOT_PATH) + later, 2)
    // When the first reply arrives, the server has read the second request.
    await once(socket, 'data')
    const stopped = running.stop()
    writeFileSync(join(gate, 'open'), '')
    const [, { status, headers }] = (await answered) as [RawReply, RawReply]
    expect([status, headers.connection]).toEqual([200, 'close'])
    expect(await stopped).toBe(true)
  })

  test('a client without TLS is cut without a reply, and others are not affected', async () => {
    const { port, first } = await start({ server })
    const plain = connectPlain(port, '127.0.0.1').on('error', () => {})
    let received = ''
    plain.setEncoding('latin1').on('data', (part) => (received += part))
    plain.write(formatRequest('GET', HOT_PATH))
    await once(plain, 'close')
    expect(received).not.toContain('HTTP')
    expect(statuses(await readReplies(await open(port, first), formatRequest('GET', HOT_PATH)))).toEqual([200])
  })
})

test('all threads use a new certificate, and open connections continue', async () => {
  const { port, first, put, lines } = await start({ threads: 2 })
  const openSocket = await open(port, first)
  const second = createSelfSigned()
  put(second)
  const trusts = (certificate: SelfSignedCertificate) =>
    open(port, certificate).then(
      (socket) => socket.destroy() && true,
      () => false,
    )
  await waitUntil(() => trusts(second))
  await waitUntil(async () => (await Promise.all(Array.from({ length: 8 }, () => trusts(first)))).every((old) => !old))
  expect(await Promise.all(Array.from({ length: 8 }, () => trusts(second)))).not.toContain(false)
  expect(
    statuses(await readReplies(openSocket, formatRequest('GET', HOT_PATH) + formatRequest('GET', '/value'), 2)),
  ).toEqual([200, 200])
  expect(lines().filter(({ msg }) => msg === 'the new certificate is in use')).toHaveLength(1)
})

test('an unusable certificate is logged once and not used, and the next valid one is', async () => {
  const { port, first, put, tlsKey, tlsCert, lines } = await start()
  const warnings = () =>
    lines().filter(({ msg }) => msg === 'the new certificate is invalid; the previous one remains in use')
  writeFileSync(tlsKey, createSelfSigned().key)
  await waitUntil(() => warnings().length === 1)
  expect(statuses(await readReplies(await open(port, first), formatRequest('GET', HOT_PATH)))).toEqual([200])
  writeFileSync(tlsCert, 'nonsense')
  await waitUntil(() => warnings().length === 2)
  expect(statuses(await readReplies(await open(port, first), formatRequest('GET', HOT_PATH)))).toEqual([200])
  // It expired twelve hours ago.
  put(createSelfSigned(0.5))
  await waitUntil(() => warnings().length === 3)
  expect(warnings()[2]).toMatchObject({ reason: expect.stringMatching(/^it expired at /) })
  expect(statuses(await readReplies(await open(port, first), formatRequest('GET', HOT_PATH)))).toEqual([200])
  const next = createSelfSigned()
  put(next)
  await waitUntil(() => open(port, next).catch(() => undefined))
  expect(warnings()).toHaveLength(3)
  for (const line of warnings()) expect(line).toMatchObject({ level: 40, file: tlsCert, reason: expect.any(String) })
})

test('files are validated once, however often they are checked', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const folder = createTemporaryFolder()
  const [tlsCert, tlsKey] = [join(folder, 'cert'), join(folder, 'key')]
  const { cert, key } = createSelfSigned()
  writeFileSync(tlsCert, cert)
  writeFileSync(tlsKey, key)
  const said: string[] = []
  const log = { info: (_: object, text: string) => said.push(text), warn: (_: object, text: string) => said.push(text) }
  const certificate = openCertificate('a', { tlsCert, tlsKey }, new Registry())!
  onTestFinished(() => certificate.close())
  const changed: string[] = []
  certificate.watch(log as never, (pair) => changed.push(pair.key))
  const look = () => vi.advanceTimersByTime(10_000)
  look()
  expect(said).toEqual([])
  writeFileSync(tlsKey, 'nonsense')
  look()
  rmSync(tlsKey)
  look()
  // The previous key.
  writeFileSync(tlsKey, key)
  look()
  expect([said.length, changed]).toEqual([2, []])
  const other = createSelfSigned()
  writeFileSync(tlsCert, other.cert)
  writeFileSync(tlsKey, other.key)
  look()
  expect([said.length, changed, certificate.pair]).toEqual([3, [other.key], other])
})

test.each([
  ['without a key', (folder: string) => ({ tlsCert: join(folder, 'cert') })],
  [
    'with a file that is not there',
    (folder: string) => ({ tlsCert: join(folder, 'none'), tlsKey: join(folder, 'key') }),
  ],
  ['with the key of another', (folder: string) => ({ tlsCert: join(folder, 'cert'), tlsKey: join(folder, 'other') })],
])('does not start %s', async (_, settings) => {
  const folder = createTemporaryFolder()
  const { cert, key } = createSelfSigned()
  writeFileSync(join(folder, 'cert'), cert)
  writeFileSync(join(folder, 'key'), key)
  writeFileSync(join(folder, 'other'), createSelfSigned().key)
  const config = buildConfig(definition, { port: 0, threads: 0, ...settings(folder) })
  const started = startService({ services: SERVICES_URL, definition, config, log: createLogger('silent', {}, []) })
  await expect(started).rejects.toMatchObject({ code: 'TLS_WRONG' })
})
