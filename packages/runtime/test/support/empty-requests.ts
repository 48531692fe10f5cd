import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Overrides } from '../../src/process/embed.ts'
import type { RunningService } from '../../src/process/host.ts'
import { SERVERS } from '../../src/settings/settings.ts'
import { requestText, type RequestHeaders } from './raw-client.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** How a request says that it has no body. */
const LENGTHS: Record<string, { headers: RequestHeaders; end: string }> = {
  'no length': { headers: {}, end: '' },
  'length 0': { headers: { 'content-length': '0' }, end: '' },
  'no chunk': { headers: { 'transfer-encoding': 'chunked' }, end: '0\r\n\r\n' },
}
const AT_ONCE = 50
// What is not answered within this is not answered at all: it takes milliseconds (ms).
const PATIENCE = 60_000

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}
interface Operation {
  readonly parameters?: Parameter[]
  readonly requestBody?: { content: Record<string, unknown> }
}
type Document = { paths: Record<string, Record<string, Operation>> }

interface Target {
  readonly target: string
  /** A media type that the path takes, where it takes any. */
  readonly type: string
}

/** A target for every path that a service documents, with the parameters that it needs. */
async function targetsOf(url: string): Promise<Target[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Document
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
 * Sends a request and, once it is answered and if the connection is kept, another: gives how many of them had a reply.
 * The connection stays open.
 */
async function repliesTo(port: number, text: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  let received = ''
  socket.on('data', (part) => (received += part))
  socket.on('error', () => {})
  await once(socket, 'connect')
  const answered = async (count: number) => {
    const late = AbortSignal.timeout(PATIENCE)
    while (!late.aborted && !socket.closed && (received.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0) < count) {
      await Promise.race([once(socket, 'data', { signal: late }), once(socket, 'close')]).catch(() => {})
    }
    return received.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0
  }
  socket.write(text)
  if ((await answered(1)) === 0) return 0
  if (/^connection: close\r$/im.test(received)) return 2
  socket.write(requestText('GET', '/healthz'))
  return answered(2)
}

/**
 * Every method at every path of a service, with and without a media type, says in each way that it has no body: all are
 * answered at once, on every server, leave the connection in order, and hold up no end.
 */
export function emptyRequests(start: (settings: Overrides) => Promise<RunningService>): void {
  describe.each(SERVERS)('requests without a body, served by %s', (server) => {
    test('are answered, whatever they say of it', async () => {
      const running = await start({ server })
      onTestFinished(async () => void (await running.stop()))
      const port = Number(new URL(running.url).port)
      const targets = await targetsOf(running.url)
      expect(targets.length).toBeGreaterThan(0)
      const requests = targets.flatMap(({ target, type: own }) =>
        METHODS.flatMap((method) =>
          [undefined, own].flatMap((type) =>
            Object.entries(LENGTHS).map(([length, { headers, end }]) => ({
              name: `${method} ${target} ${type ?? 'no type'}, ${length}`,
              text: requestText(method, target, { 'content-type': type, ...headers }) + end,
            })),
          ),
        ),
      )
      const unanswered: string[] = []
      async function lane(): Promise<void> {
        for (let next = requests.pop(); next; next = requests.pop()) {
          const replies = await repliesTo(port, next.text)
          if (replies < 2) unanswered.push(`${next.name}: ${replies} of 2`)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, lane))
      expect(unanswered).toEqual([])
      expect(await running.stop()).toBe(true)
    })
  })
}
