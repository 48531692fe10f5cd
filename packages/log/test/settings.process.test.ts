import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, nkeys } from '@nats-io/transport-node'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createOperator } from './support/credentials.ts'
import { startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'

const SECRET = 's3cret/word'

/** Opens a log with invalid settings. Returns the error, and checks that it is one line without the secret. */
async function startAndFail(
  url: string,
  options: Parameters<typeof openTestLog>[2] = {},
  stream = createStreamName(),
): Promise<unknown> {
  const { lines, log } = createLogCapture()
  const error = await openTestLog(url, stream, { log, startTimeout: 0, ...options }).then(
    () => undefined,
    (one: Error) => one,
  )
  for (const line of [error?.message ?? '', ...lines]) {
    expect(line).not.toContain('s3cret')
    expect(line).not.toContain(encodeURIComponent(SECRET))
    expect(line.split('\n')).toHaveLength(1)
  }
  return error
}

const startError = (code: string, words: RegExp) => ({
  name: 'StartError',
  code,
  message: expect.stringMatching(words),
})

describe('an invalid setting:', () => {
  it('no server', async () => {
    const port = await findFreePort()
    expect(await startAndFail(`nats://user:${encodeURIComponent(SECRET)}@127.0.0.1:${port}`)).toMatchObject(
      startError('NATS_UNREACHABLE', new RegExp(`^test: no NATS server is reachable at 127.0.0.1:${port}$`)),
    )
  })

  it('an invalid address', async () => {
    expect(await startAndFail(`nats://user:${SECRET}@`)).toMatchObject(startError('NATS_URL_WRONG', /^test: /))
  })

  it('wrong credentials in the address; valid ones connect', async () => {
    const server = await startTestNatsServer({
      config: `authorization { user: "node", password: ${JSON.stringify(SECRET)} }`,
    })
    const { port } = server
    expect(await startAndFail(`nats://node:s3cret-other@127.0.0.1:${port}`)).toMatchObject(
      startError('NATS_FORBIDDEN', /^test: NATS at 127\.0\.0\.1:\d+ refused these credentials$/),
    )
    expect(await startAndFail(server.url)).toMatchObject(startError('NATS_FORBIDDEN', /^test: /))
    const { log } = await openTestLog(`nats://node:${encodeURIComponent(SECRET)}@127.0.0.1:${port}`, createStreamName())
    await log.barrier()
  })

  it('a server with an untrusted certificate; a trusted one connects', async () => {
    const file = (name: string) => fileURLToPath(new URL(`fixtures/tls/${name}`, import.meta.url))
    const [ca, cert, key] = [file('cert.pem'), file('cert.pem'), file('key.pem')]
    const { url } = await startTestNatsServer({
      config: `tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${ca}", verify: true }`,
    })
    expect(await startAndFail(url.replace('nats:', 'tls:'))).toMatchObject(startError('NATS_UNREACHABLE', /^test: /))
    const { log } = await openTestLog(url, createStreamName(), { nats: { servers: [url], ca, cert, key } })
    await log.barrier()
  })

  it('a key that the server does not know; a known one connects', async () => {
    const known = nkeys.createUser()
    const other = nkeys.createUser()
    const folder = createTemporaryFolder()
    const seedOf = (pair: typeof known, name: string) => {
      const file = join(folder, name)
      writeFileSync(file, `${Buffer.from(pair.getSeed())}\n`)
      return file
    }
    const { url } = await startTestNatsServer({
      config: `authorization { users: [ { nkey: ${known.getPublicKey()} } ] }`,
    })
    const nats = (nkey: string) => ({ nats: { servers: [url], nkey } })
    expect(await startAndFail(url, nats(seedOf(other, 'other')))).toMatchObject(startError('NATS_FORBIDDEN', /^test: /))
    const { log } = await openTestLog(url, createStreamName(), nats(seedOf(known, 'known')))
    await log.barrier()
  })

  it('a credentials file that the operator has not signed; a signed one connects', async () => {
    const operator = createOperator()
    const folder = createTemporaryFolder()
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const { url } = await startTestNatsServer({ config: operator.config })
    const options = (credentials: string) => ({ nats: { servers: [url], credentials } })
    for (const wrong of [createOperator().createUserFile(), operator.createUserFile(nkeys.createAccount())])
      expect(await startAndFail(url, options(file('wrong', wrong)))).toMatchObject(
        startError('NATS_FORBIDDEN', /^test: /),
      )
    expect(await startAndFail(url)).toMatchObject(startError('NATS_FORBIDDEN', /^test: /))
    const { lines, log: logger } = createLogCapture()
    const text = operator.createUserFile()
    const { log } = await openTestLog(url, createStreamName(), { ...options(file('right', text)), log: logger })
    await log.barrier()
    await log.append(1, Buffer.from('x'))
    for (const secret of text.split('\n').filter((line) => line !== '' && !line.startsWith('--')))
      expect(lines.join('\n')).not.toContain(secret)
  })

  it.each(['credentials', 'nkey'])('a file for %s with other content', async (name) => {
    const { url } = await startTestNatsServer({ config: createOperator().config })
    const file = join(createTemporaryFolder(), 'file')
    for (const text of [
      SECRET,
      '',
      createOperator()
        .createUserFile()
        .replaceAll(/S[A-Z2-7]{57}/g, SECRET),
    ]) {
      writeFileSync(file, text)
      expect(await startAndFail(url, { nats: { servers: [url], [name]: file } })).toMatchObject(
        startError('NATS_FILE_UNREADABLE', /^test: \S+ contains no NATS user key$/),
      )
    }
  })

  it('a missing file', async () => {
    const { url } = await startTestNatsServer()
    expect(await startAndFail(url, { nats: { servers: [url], nkey: '/not/there' } })).toMatchObject(
      startError('NATS_FILE_UNREADABLE', /^test: \/not\/there cannot be read \(ENOENT\)$/),
    )
  })

  it('JetStream off', async () => {
    const { url } = await startTestNatsServer({ jetstream: false })
    expect(await startAndFail(url)).toMatchObject(startError('JETSTREAM_OFF', /^test: JetStream is disabled/))
  })

  it('three replicas on one server, without creating a stream', async () => {
    const { url } = await startTestNatsServer()
    const stream = createStreamName()
    expect(await startAndFail(url, { replicas: 3 }, stream)).toMatchObject(
      startError('LOG_REPLICAS', /^test: stream \S+ requires 3 servers/),
    )
    const nc = await connect({ servers: [url] })
    const jsm = await jetstreamManager(nc)
    await expect(jsm.streams.info(stream)).rejects.toThrow()
    await nc.close()
  })

  it('a stream of another format, of another service, or of no service', async () => {
    const { url } = await startTestNatsServer()
    const nc = await connect({ servers: [url] })
    const jsm = await jetstreamManager(nc)
    const [foreign, newer, other] = [createStreamName(), createStreamName(), createStreamName()]
    await jsm.streams.add({ name: foreign, subjects: [foreign] })
    const metadata = { 'influencer-stats.service': 'test', 'influencer-stats.format': '2' }
    await jsm.streams.add({ name: newer, subjects: [newer], metadata })
    await openTestLog(url, other)
    expect(await startAndFail(url, {}, foreign)).toMatchObject(
      startError('LOG_FOREIGN', /is not the log of a service$/),
    )
    expect(await startAndFail(url, {}, newer)).toMatchObject(
      startError('LOG_FORMAT_UNKNOWN', /has format 2; this version knows 1$/),
    )
    expect(await startAndFail(url, { service: 'kv' }, other)).toMatchObject(
      startError('LOG_FOREIGN', /is the log of test$/),
    )
    await nc.close()
  })

  it('a maximum message size that is too small for the entries', async () => {
    const { url } = await startTestNatsServer({ config: 'max_payload: 4096' })
    expect(await startAndFail(url, { maxBody: 16_777_216 })).toMatchObject(
      startError('LOG_LIMITS', /increase max_payload of NATS$/),
    )
    const { log } = await openTestLog(url, createStreamName(), { maxBody: 1_000_000 })
    const { outcome } = await log.append(1, Buffer.alloc(1_000_000, 'x'))
    expect(outcome).toBe(1)
  })
})
