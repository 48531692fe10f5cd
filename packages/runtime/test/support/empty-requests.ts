import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Overrides } from '../../src/supervisor/embed.ts'
import type { RunningService } from '../../src/supervisor/service-host.ts'
import { SERVERS } from '../../src/settings/settings.ts'
import { formatRequest, type RawRequestHeaders } from './raw-client.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** Ways to send a request without a body. */
const LENGTHS: Record<string, { headers: RawRequestHeaders; end: string }> = {
  'no length': { headers: {}, end: '' },
  'length 0': { headers: { 'content-length': '0' }, end: '' },
  'no chunk': { headers: { 'transfer-encoding': 'chunked' }, end: '0\r\n\r\n' },
}
const PARALLEL_REQUESTS = 50
// A reply takes milliseconds. After this time it counts as missing (ms).
const REPLY_TIMEOUT_MS = 60_000

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}
interface DocumentOperation {
  readonly parameters?: Parameter[]
  readonly requestBody?: { content: Record<string, unknown> }
}
type ApiDocument = { paths: Record<string, Record<string, DocumentOperation>> }

interface RequestTarget {
  readonly target: string
  /** A media type that the path accepts, if any. */
  readonly type: string
}

/** A target for every documented path, with its required parameters. */
async function listTargets(url: string): Promise<RequestTarget[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument
  return Object.entries(paths).map(([path, operations]) => {
    const all = Object.values(operations)
    const needed = all
      .flatMap(({ parameters = [] }) => parameters)
      .filter((one) => one.in === 'query' && one.required)
      .map(({ name }) => `${name}=aaaaaaaaaaa`)
    const query = [...new Set(needed)].join('&')
    const types = all.flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {}))
    return {
      target: path.replaceAll(/\{\w+\}/g, 'aaaaaaaaaaa') + (query && `?${query}`),
      type: types[0] ?? 'application/json',
    }
  })
}

/**
 * Sends a request and, after a reply on an open connection, a second one. The connection stays open.
 * @returns number of replies
 */
async function countReplies(port: number, text: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  let received = ''
  socket.on('data', (part) => (received += part))
  socket.on('error', () => {})
  await once(socket, 'connect')
  const waitForReplies = async (count: number) => {
    const late = AbortSignal.timeout(REPLY_TIMEOUT_MS)
    while (!late.aborted && !socket.closed && (received.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0) < count) {
      await Promise.race([once(socket, 'data', { signal: late }), once(socket, 'close')]).catch(() => {})
    }
    return received.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0
  }
  socket.write(text)
  if ((await waitForReplies(1)) === 0) return 0
  if (/^connection: close\r$/im.test(received)) return 2
  socket.write(formatRequest('GET', '/healthz'))
  return waitForReplies(2)
}

/**
 * Sends every method to every path of a service, with and without a media type, in each form of an empty body. Every
 * server answers all of them at once, the connection stays usable, and the server can stop.
 */
export function testEmptyRequests(start: (settings: Overrides) => Promise<RunningService>): void {
  describe.each(SERVERS)('requests without a body, served by %s', (server) => {
    test('are answered at once, in each form of an empty body', async () => {
      const running = await start({ server })
      onTestFinished(async () => void (await running.stop()))
      const port = Number(new URL(running.url).port)
      const targets = await listTargets(running.url)
      expect(targets.length).toBeGreaterThan(0)
      const requests = targets.flatMap(({ target, type: own }) =>
        METHODS.flatMap((method) =>
          [undefined, own].flatMap((type) =>
            Object.entries(LENGTHS).map(([length, { headers, end }]) => ({
              name: `${method} ${target} ${type ?? 'no type'}, ${length}`,
              text: formatRequest(method, target, { 'content-type': type, ...headers }) + end,
            })),
          ),
        ),
      )
      const unanswered: string[] = []
      async function sendNext(): Promise<void> {
        for (let next = requests.pop(); next; next = requests.pop()) {
          const replies = await countReplies(port, next.text)
          if (replies < 2) unanswered.push(`${next.name}: ${replies} of 2`)
        }
      }
      await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, sendNext))
      expect(unanswered).toEqual([])
      expect(await running.stop()).toBe(true)
    })
  })
}
