import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import {
  buildGoProgram,
  createPythonEnvironment,
  PREPARATION_TIMEOUT_MS,
  requireProgram,
  ThirdPartyClient,
} from '@influencer-stats/runtime/testing/third-party-client'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startKv, type TestKv } from './support/kv.ts'

// Clients of other languages, as their users write them. The programs in `clients/` read commands:
// {do: 'PUT' | 'GET' | 'DELETE', id, value?, ifMatch?, ifNoneMatch?}   -> {status, etag, value}; values are base64
// {do: 'page', prefix, limit, cursor?}                                 -> {status, lines, next}
// {do: 'watch', prefix, after?, progress?}                             -> {status}, then fields of blocks, then {end}

const toPath = (name: string) => fileURLToPath(new URL(`clients/${name}`, import.meta.url))
const toBase64 = (value: string | Uint8Array) => Buffer.from(value).toString('base64')

/** Time within which a change arrives at a watching client. A stream is silent until then (ms). */
const PROMPT_MS = 5_000
const HEARTBEAT_MS = 200

/** Ids that a client must encode. `%2F` is an id with a percent sign. */
const IDS = ['a/b', 'a%2Fb', 'with space', 'with+plus', 'Grüße/München', '&=?#;', '日本']
const VALUES = [
  '',
  'Grüße',
  Uint8Array.from({ length: 1024 }, (_, i) => i),
  Uint8Array.from({ length: 2_000_000 }, (_, i) => (i * 7) % 251),
]

const CLIENTS = {
  curl: async () => {
    await requireProgram('curl', 'curl', '--version')
    return [process.execPath, toPath('curl-client.ts')]
  },
  'Python requests': async () => [await createPythonEnvironment(['requests==2.32.5']), toPath('requests_client.py')],
  'Go net/http': async () => [await buildGoProgram(toPath('net-http'))],
}

/** A watching client. */
class Watch {
  readonly #client: ThirdPartyClient
  readonly #query: Readonly<Record<string, string>>
  /** Sequence from which another stream resumes. */
  sequence = ''

  constructor(client: ThirdPartyClient, query: Readonly<Record<string, string>>) {
    this.#client = client
    this.#query = query
  }

  /** Opens the stream, and reads its status. */
  async open(): Promise<number> {
    const { status } = await this.#client.call({ do: 'watch', ...this.#query })
    return status
  }

  /** Reads a block that has only an id. */
  async readProgress(): Promise<void> {
    const { retry: _retry, id, ...more } = await this.#client.read()
    if (id === undefined || Object.keys(more).length > 0) throw new Error(`not only an id: ${JSON.stringify(more)}`)
    this.sequence = id
  }

  /** Reads the next block, which is a change; undefined after the end of the stream. */
  async readChange(): Promise<string | undefined> {
    const { event, data, id, end } = await this.#client.read()
    if (end !== undefined) return undefined
    this.sequence = id ?? this.sequence
    const change = JSON.parse(data)
    if (event !== change.op) throw new Error(`the event ${event} has ${data}`)
    return `${change.op} ${change.id} ${change.value ?? change.valueBase64 ?? ''}`.trimEnd()
  }

  end(): void {
    this.#client.end()
  }
}

describe.each(Object.entries(CLIENTS))('%s', (_name, prepare) => {
  let command: string[]

  beforeAll(async () => {
    command = await prepare()
  }, PREPARATION_TIMEOUT_MS)

  function startClient({ url }: TestKv): ThirdPartyClient {
    const [program, ...args] = command
    const client = new ThirdPartyClient([program!, ...args, url])
    onTestFinished(() => client.end())
    return client
  }

  it('stores bytes under any id, with conditions, and reads a range in pages', async () => {
    const kv = await startKv()
    onTestFinished(async () => void (await kv.stop()))
    const client = startClient(kv)
    for (const id of IDS) {
      for (const value of VALUES) {
        const put = await client.call({ do: 'PUT', id, value: toBase64(value) })
        expect(await client.call({ do: 'GET', id })).toEqual({ status: 200, etag: put.etag, value: toBase64(value) })
      }
    }
    expect((await Array.fromAsync(kv.client.keys())).toSorted()).toEqual(IDS.toSorted())

    const id = 'page/Ü 0'
    const put = (value: string, condition: object) =>
      client.call({ do: 'PUT', id, value: toBase64(value), ...condition })
    const first = await put('1', { ifNoneMatch: '*' })
    const second = await put('2', { ifMatch: first.etag })
    const replies = [first, second, await put('3', { ifNoneMatch: '*' }), await put('4', { ifMatch: first.etag })]
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 412, 412])
    expect((await client.call({ do: 'GET', id, ifNoneMatch: second.etag })).status).toBe(304)
    expect((await client.call({ do: 'GET', id, ifNoneMatch: first.etag })).value).toBe(toBase64('2'))
    expect((await client.call({ do: 'DELETE', id, ifMatch: first.etag })).status).toBe(412)
    expect((await client.call({ do: 'DELETE', id, ifMatch: second.etag })).status).toBe(202)
    expect((await client.call({ do: 'GET', id })).status).toBe(404)

    const ids = Array.from({ length: 25 }, (_, i) => `page/Ü ${String.fromCharCode(97 + i)}`)
    for (const id of ids) await client.call({ do: 'PUT', id, value: toBase64(`é\u2028 ${id}`) })
    const pages: { id: string; value: string }[][] = []
    for (let cursor: string | undefined; ;) {
      const page = await client.call({ do: 'page', prefix: 'page/Ü', limit: '10', ...(cursor && { cursor }) })
      pages.push(page.lines)
      if (page.next === null) break
      cursor = page.next
    }
    expect(pages.map((page) => page.length)).toEqual([10, 10, 5])
    expect(pages.flat()).toEqual(ids.map((id) => ({ op: 'put', id, value: `é\u2028 ${id}` })))
  })

  it('receives each change at once, resumes, and receives no other', async () => {
    const data = createTemporaryFolder()
    const settings = { data, watchHeartbeat: HEARTBEAT_MS, port: await findFreePort() }
    let kv = await startKv(settings)
    onTestFinished(async () => void (await kv.stop()))
    const writer = startClient(kv)
    const put = (id: string, value: string | Uint8Array) => writer.call({ do: 'PUT', id, value: toBase64(value) })
    const watch = async (query: Readonly<Record<string, string>>) => {
      const watch = new Watch(startClient(kv), query)
      return { watch, status: await watch.open() }
    }
    /** Writes changes one after the other, each once the last one has arrived. */
    const exchange = async (watch: Watch, name: string) => {
      for (let i = 0; i < 5; i++) {
        const start = performance.now()
        await put(`w/${name} ü${i}`, `é\u2028 ${i}`)
        expect(await watch.readChange()).toBe(`put w/${name} ü${i} é\u2028 ${i}`)
        expect(performance.now() - start).toBeLessThan(PROMPT_MS)
      }
      await put('other', 'value')
      await put(`w/${name}`, Uint8Array.of(0, 255))
      expect(await watch.readChange()).toBe(`put w/${name} AP8=`)
      await writer.call({ do: 'DELETE', id: `w/${name}` })
      expect(await watch.readChange()).toBe(`delete w/${name}`)
    }

    const { watch: first } = await watch({ prefix: 'w/' })
    await exchange(first, 'first')
    // Heartbeats are no changes.
    await delay(5 * HEARTBEAT_MS)
    await exchange(first, 'later')
    first.end()

    await put('w/missed', '1')
    await put('w/missed', '2')
    const { watch: resumed } = await watch({ prefix: 'w/', after: first.sequence })
    expect([await resumed.readChange(), await resumed.readChange()]).toEqual(['put w/missed 1', 'put w/missed 2'])
    await exchange(resumed, 'resumed')

    await kv.stop()
    expect(await resumed.readChange()).toBeUndefined()
    kv = await startKv(settings)
    // A standalone service has no changes from before its start: the client reads the range again.
    expect(await watch({ prefix: 'w/', after: resumed.sequence })).toMatchObject({ status: 410 })
    const { watch: restarted } = await watch({ prefix: 'w/' })
    const { lines } = await writer.call({ do: 'page', prefix: 'w/', limit: '1000' })
    expect(lines).toHaveLength(16)
    await exchange(restarted, 'restarted')

    const { watch: reporting } = await watch({ prefix: 'none/', progress: 'true' })
    for (let i = 0; i < 3; i++) await reporting.readProgress()
  })
})
