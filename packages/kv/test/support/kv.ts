import { afterAll, beforeAll } from 'vitest'
import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { createKvClient, type KvClient } from '../../src/client.ts'
import { kv } from '../../src/service.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** Returns the path of a value. */
export const entity = (id: string) => `/v0/entity?id=${encodeURIComponent(id)}`

/** A reply, in the forms that tests need. */
export interface TestReply {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  readonly text: string
  readonly code: string | undefined
}

/** A running kv service of a test. */
export interface TestKv {
  readonly url: string
  readonly client: KvClient
  request(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<TestReply>
  stop(): Promise<boolean>
}

export async function startKv(settings: Overrides = {}): Promise<TestKv> {
  const running = await embed(kv, { data: createTemporaryFolder(), ...settings }, SERVICES)
  const client = createKvClient(running.url)
  return {
    url: running.url,
    client,
    async request(method, path, body, headers = {}) {
      const reply = await fetch(running.url + path, { method, body: body as never, headers })
      const bytes = Buffer.from(await reply.arrayBuffer())
      const text = bytes.toString()
      const isProblem = reply.headers.get('content-type') === 'application/problem+json'
      return {
        status: reply.status,
        headers: reply.headers,
        bytes,
        text,
        code: isProblem && text !== '' ? JSON.parse(text).code : undefined,
      }
    },
    async stop() {
      await client.close()
      return running.stop()
    },
  }
}

/** Starts a service before the tests of a block, and stops it after them. */
export function useKv(settings: Overrides = {}): Pick<TestKv, 'request' | 'client' | 'url'> {
  let kv: TestKv
  beforeAll(async () => {
    kv = await startKv(settings)
  })
  afterAll(() => kv.stop())
  return {
    request: (...request) => kv.request(...request),
    get client() {
      return kv.client
    },
    get url() {
      return kv.url
    },
  }
}
