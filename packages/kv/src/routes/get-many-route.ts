import { getHold, type Budget } from '@influencer-stats/runtime/budget'
import { createBytesParser } from '@influencer-stats/runtime/bytes-parser'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { getReplyHeaders, sendChunks } from '@influencer-stats/runtime/stream-reply'
import { toFoundLine, toMissingLine } from '../lines/entry-lines.ts'
import { MAX_KEYS, MAX_KEYS_BYTES, parseKeyList } from '../core/key-list.ts'
import { MAX_KEY_BYTES } from '../core/key-limits.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { errors } from '../errors.ts'
import type { KvSnapshot, KvStore } from '../store/store.ts'
import { readOnSnapshot } from './read-on-snapshot.ts'
import { NDJSON_TYPE } from './range-format.ts'
import { readQuery, readConsistency } from './read-query.ts'
import { bytes, consistencyParameters, withoutValidation } from './schemas.ts'
import { createReservation } from './stream-scan.ts'

const RESPONSE_HEADERS = ['content-type', NDJSON_TYPE, 'x-content-type-options', 'nosniff', 'cache-control', 'no-cache']

// After a slice of lookups, other requests run.
/** Maximum duration of a slice (ms). */
const SLICE_MS = 2
/** Approximate maximum size of the lines of a slice (characters). */
const SLICE_CHARACTERS = 262_144

/**
 * Registers the route that reads many keys in one request.
 * @param sendTimeout time that a client may take to receive 256 KiB of its reply (ms)
 */
export async function registerGetManyRoute(
  root: App,
  store: KvStore,
  budget: Budget,
  sendTimeout: number,
): Promise<void> {
  await root.register(async (app: App) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', createBytesParser({ limit: MAX_KEYS_BYTES, tooLarge: errors.KEYS_TOO_LARGE }, budget))
    app.post(
      '/v0/entities/get',
      {
        ...withoutValidation,
        config: { access: 'read', cost: 10 },
        schema: {
          tags: ['entities'],
          operationId: 'getEntities',
          summary: 'Read several values from one snapshot',
          description:
            `A maximum of ${MAX_KEYS} keys in 1 MiB. The reply has one NDJSON line per key, in the order of the request: ` +
            '`{"id":"k","found":true,"etag":"\\"XWzQ3mAB\\"","value":"text"}`, with `valueBase64` for bytes that are not ' +
            'text, and `expiresAt` (ms since 1970) if the value expires. A missing key is `{"id":"k","found":false}`.',
          querystring: { type: 'object', additionalProperties: false, properties: consistencyParameters },
          body: { content: { 'application/json': { schema: keyListSchema } } },
          response: {
            200: { description: 'One line per key.', content: { [NDJSON_TYPE]: { schema: bytes } } },
            ...buildReadReplies(
              errors.QUERY_INVALID,
              errors.KEYS_INVALID,
              errors.KEYS_TOO_LARGE,
              errors.KEY_TOO_LARGE,
              errors.SEQUENCE_WAIT_TIMEOUT,
              errors.LOG_UNAVAILABLE,
            ),
          },
        },
      },
      async (request, reply) => {
        const ids = readKeyList(request.body as Buffer | undefined)
        const consistency = readConsistency(readQuery(request.query, Object.keys(consistencyParameters)))
        function begin(): void {
          reply.hijack()
          reply.raw.writeHead(200, [...getReplyHeaders(reply), ...RESPONSE_HEADERS])
        }
        await readOnSnapshot(store, consistency, reply, (snapshot) => {
          const slices = findValues(snapshot, ids, createReservation(getHold(request.raw, budget)))
          return sendChunks(async () => (await slices.next()).value, reply.raw, { begin, timeout: sendTimeout })
        })
      },
    )
  })
}

const keyListSchema = {
  type: 'object',
  title: 'KeyList',
  required: ['ids'],
  additionalProperties: false,
  properties: {
    ids: { type: 'array', minItems: 1, maxItems: MAX_KEYS, items: { type: 'string', minLength: 1 } },
  },
  examples: [{ ids: ['greeting', 'missing'] }],
} as const

/** Returns the keys in the body of a request. @throws KEYS_INVALID, KEYS_TOO_LARGE, KEY_TOO_LARGE */
function readKeyList(body: Buffer | undefined): string[] {
  if (!body?.length) throw errors.KEYS_INVALID('body must be an object such as {"ids":["greeting"]}; received no body')
  const ids = parseKeyList(body)
  if (typeof ids === 'string') throw errors.KEYS_INVALID(ids)
  if (ids.length > MAX_KEYS)
    throw errors.KEYS_TOO_LARGE(`"ids" must have at most ${MAX_KEYS} keys; received ${ids.length}`)
  for (const [i, id] of ids.entries())
    if (Buffer.byteLength(id) > MAX_KEY_BYTES)
      throw errors.KEY_TOO_LARGE(
        `"ids"[${i}] must be at most ${MAX_KEY_BYTES} bytes; received ${Buffer.byteLength(id)}`,
      )
  return ids
}

/** Yields one line per key, in slices. @param reserve reserves memory for a slice (bytes) @throws MEMORY_FULL */
async function* findValues(
  snapshot: KvSnapshot,
  ids: readonly string[],
  reserve: (bytes: number) => void,
): AsyncGenerator<string, undefined> {
  let slice = ''
  let until = performance.now() + SLICE_MS
  for (const id of ids) {
    const found = snapshot.find(Buffer.from(id))
    if (found) reserve(slice.length + found.stored.length)
    slice += found ? toFoundLine(id, found.stored, found.expiresAt) : toMissingLine(id)
    if (slice.length < SLICE_CHARACTERS && performance.now() < until) continue
    reserve(slice.length)
    yield slice
    slice = ''
    await yieldTurn()
    until = performance.now() + SLICE_MS
  }
  if (slice !== '') yield slice
}
