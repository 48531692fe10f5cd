import type { SseReply, TestSse } from './test-sse.ts'
import { toBearerHeader } from './sign-tokens.ts'
import type { TestStream } from './test-stream.ts'

export const HUB = '/.well-known/mercure'

type FormFields = readonly (readonly [name: string, value: string])[]

/** Creates a client of the Mercure protocol. */
export function createMercureClient({ request, open }: TestSse) {
  const post = (fields: FormFields, headers: Record<string, string> = {}): Promise<SseReply> =>
    request('POST', HUB, {
      body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])),
      headers,
    })

  return {
    post,
    /** Publishes an update. Resolves with its id. */
    async publish(token: string, topic: string, data: string, ...more: FormFields): Promise<string> {
      const { status, body } = await post([['topic', topic], ['data', data], ...more], toBearerHeader(token))
      if (status !== 200) throw Object.assign(new Error(`publish: ${status}`), { status, code: body.code })
      return body
    },
    /** Opens two streams: with the plain path, and with a spelling of it that only Fastify answers. */
    subscribe: (query: string, headers: Record<string, string> = {}): Promise<TestStream[]> =>
      Promise.all([HUB, HUB.replace('m', '%6d')].map((path) => open(query, { headers, path }))),
  }
}
