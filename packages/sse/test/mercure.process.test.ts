import { SERVERS } from '@influencer-stats/runtime/settings'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { HUB } from './support/mercure-client.ts'
import { AUDIENCE, toBearerHeader, sign } from './support/sign-tokens.ts'
import { startHub } from './support/start-hub.ts'

const problem = (status: number, code: string) => ({ status, body: { status, code } })

describe('an update', () => {
  it.each(SERVERS)('reaches all streams that match any of its topics, once, in one order: %s', async (server) => {
    const { sse, token, publish, subscribe } = await startHub({ server })
    const pattern = encodeURIComponent('https://x.example/books/:id')
    const streams = await subscribe(
      `?match=${encodeURIComponent('https://x.example/books/1')}&match_urlpattern=${pattern}&match_exact=b`,
    )
    const everything = await subscribe('?match=*')
    const others = await subscribe(`?match=${encodeURIComponent('https://x.example/books')}`)
    const waiting = await sse.openBoth(`?topic=b`)
    const first = await publish(token, 'https://x.example/books/1', 'one')
    await publish(token, 'https://x.example/authors/1', 'not for all')
    await publish(token, 'a', 'two\r\nlines\rall\n', ['topic', 'b'], ['topic', 'https://x.example/books/2'])
    await sse.put('by put', 'b')
    for (const stream of streams) {
      await stream.until(3)
      expect(stream.values).toEqual(['one', 'two\nlines\nall\n', 'by put'])
      expect(stream.events[0]!.lastEventId).toBe(first)
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/)
    }
    for (const stream of everything) {
      await stream.until(4)
      expect(stream.values).toEqual(['one', 'not for all', 'two\nlines\nall\n', 'by put'])
    }
    for (const stream of waiting) {
      await stream.until(2)
      expect(stream.values).toEqual(['two\nlines\nall\n', 'by put'])
    }
    for (const { events } of others) expect(events).toEqual([])
    expect(first).toMatch(/^#[a-z0-9]+-\d+$/)
  })

  it('carries its type and reconnection time; other fields are ignored', async () => {
    const { token, publish, subscribe, post } = await startHub()
    const [stream] = await subscribe('?match=a')
    await publish(token, 'a', 'x', ['type', 'news'], ['retry', '1234'], ['id', 'urn:mine'], ['unknown', '1'])
    await stream!.until(1)
    expect(stream!.events[0]).toMatchObject({ type: 'news', data: 'x', lastEventId: 'urn:mine' })
    expect(stream!.reader.retry).toBe(1_234)
    const reply = await post([['topic', 'a']], toBearerHeader(token))
    expect(reply).toMatchObject({ status: 200, body: expect.stringMatching(/^#/) })
    expect(reply.headers.get('content-type')).toMatch(/^text\/plain/)
    await stream!.until(2)
    expect(stream!.values.at(-1)).toBe('')
  })

  it('with `private`, of any value, reaches only clients that may read one of its topics, on every route', async () => {
    const { sse, token, publish, subscribe } = await startHub()
    const allowed = [
      await subscribe('?match=*', toBearerHeader(await sign({ subscribe: ['secret'] }))),
      await subscribe(
        '?match=other',
        toBearerHeader(await sign({ subscribe: [{ match: 'secret', match_type: 'exact' }] })),
      ),
      await sse.openBoth('?topic=secret', toBearerHeader(await sign({ subscribe: ['*'] }))),
    ].flat()
    const others = [
      await subscribe('?match=*'),
      await subscribe(
        '?match=*',
        toBearerHeader(
          await sign({
            publish: ['secret'],
            subscribe: ['secrets', { match: 'https://x/*', match_type: 'urlpattern' }],
          }),
        ),
      ),
      await sse.openBoth('?match=*'),
      await sse.openBoth('?topic=secret&last=1'),
    ].flat()
    const before = await publish(token, 'other', 'before')
    for (const value of ['', '0', 'false', 'on'])
      await publish(token, 'secret', `private ${value}`, ['private', value], ['topic', 'other'])
    await publish(token, 'other', 'public', ['topic', 'secret'])
    for (const stream of allowed) {
      await waitUntil(() => stream.values.includes('public'))
      expect(stream.values.filter((value) => value.startsWith('private'))).toHaveLength(4)
    }
    // The same holds for replays.
    const replayed = await subscribe('?match=secret', { 'last-event-id': before })
    for (const stream of [...others, ...replayed, ...(await sse.openBoth('?topic=secret&last=1'))]) {
      await waitUntil(() => stream.values.includes('public'))
      expect(stream.values.filter((value) => value.startsWith('private'))).toEqual([])
    }
    await publish(token, 'secret', 'private value', ['private', ''])
    expect(await sse.request('GET', '/value?topic=secret')).toMatchObject(problem(404, 'VALUE_NOT_FOUND'))
    expect(await sse.request('GET', '/value?topic=secret', { headers: toBearerHeader(token) })).toMatchObject({
      body: 'private value',
    })
  })

  it('is refused if it is malformed, and others continue', async () => {
    const { token, post, subscribe, publish } = await startHub()
    const [stream] = await subscribe('?match=*')
    const cases: [string, [string, string][]][] = [
      ['without a topic', [['data', 'x']]],
      ['to an empty topic', [['topic', '']]],
      ['to every topic', [['topic', '*']]],
      ["to the hub's own topics", [['topic', `${AUDIENCE}/subscriptions/x`]]],
      [
        "to the hub's own topics, relative",
        [
          ['topic', 'a'],
          ['topic', '/.well-known/%6dercure/x'],
        ],
      ],
      ['to a topic with control characters', [['topic', 'a\nb']]],
      ['to a topic with format characters', [['topic', 'a\u200b']]],
      ['to a topic of a megabyte', [['topic', 'x'.repeat(1_048_576)]]],
      ['to too many topics', Array.from({ length: 101 }, (_, i) => ['topic', `${i}`] as [string, string])],
      [
        'with an id that begins with #',
        [
          ['topic', 'a'],
          ['id', '#1'],
        ],
      ],
      [
        'with the id earliest',
        [
          ['topic', 'a'],
          ['id', 'earliest'],
        ],
      ],
      [
        'with control characters in its id',
        [
          ['topic', 'a'],
          ['id', 'a\0'],
        ],
      ],
      [
        'with a type of the protocol',
        [
          ['topic', 'a'],
          ['type', 'mercure'],
        ],
      ],
      [
        'with a line end in its type',
        [
          ['topic', 'a'],
          ['type', 'a\ndata: x'],
        ],
      ],
      [
        'with a retry that is no number',
        [
          ['topic', 'a'],
          ['retry', '-1'],
        ],
      ],
      [
        'with two values',
        [
          ['topic', 'a'],
          ['data', '1'],
          ['data', '2'],
        ],
      ],
    ]
    for (const [what, fields] of cases) {
      expect({ what, ...(await post(fields, toBearerHeader(token))) }).toMatchObject({
        what,
        ...problem(400, 'INVALID_UPDATE'),
      })
    }
    await publish(token, 'a', 'others go on')
    await stream!.until(1)
    expect(stream!.values).toEqual(['others go on'])
  })

  it('is refused if it is not a form, not UTF-8, or too large', async () => {
    const { sse, token } = await startHub({ maxValue: 1_000 })
    const form = { ...toBearerHeader(token), 'content-type': 'application/x-www-form-urlencoded' }
    const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = form) =>
      sse.request('POST', HUB, { body, headers })
    expect(await post('{}', { ...form, 'content-type': 'application/json' })).toMatchObject(
      problem(415, 'UNSUPPORTED_MEDIA_TYPE'),
    )
    expect(await post('topic=a&data=%FF')).toMatchObject(problem(400, 'INVALID_UPDATE'))
    expect(await post(new Uint8Array([0xff]))).toMatchObject(problem(400, 'VALUE_NOT_UTF8'))
    expect(await post(`topic=a&data=${'x'.repeat(1_000)}`)).toMatchObject(problem(413, 'BODY_TOO_LARGE'))
    expect((await post('topic=a&data=%C3%A9+%2B')).status).toBe(200)
    expect(await sse.request('GET', '/value?topic=a')).toMatchObject({ body: 'é +' })
    expect(await sse.request('GET', `/put?v=1&topic=${encodeURIComponent(`${AUDIENCE}/x`)}`)).toMatchObject(
      problem(403, 'HUB_TOPIC'),
    )
  })
})

describe('a subscription', () => {
  const matchers = Array.from({ length: 501 }, (_, i) => `match=${i}`).join('&')
  it('is refused if it is malformed', async () => {
    const { subscribe } = await startHub()
    const cases = [
      ['none at all', ''],
      ['the parameter of earlier drafts', '?topic=a'],
      ['another kind of matcher', '?match=a&match_regexp=a'],
      ['an empty one', '?match='],
      ['control characters', '?match=a%0Ab'],
      ['format characters', '?match=a%E2%80%8B'],
      ['a malformed pattern', '?match_urlpattern=%7B'],
      ['a pattern with a regular expression', `?match_urlpattern=${encodeURIComponent('https://x/:id((a+)+)')}`],
      ['a matcher that is too long', `?match=${'x'.repeat(1_025)}`],
      ['too many matchers', `?${matchers}`],
      ['a bad escape', '?match=%FF'],
    ] as const
    for (const [what, query] of cases) {
      for (const { status, body } of await subscribe(query)) {
        expect({ what, status, code: JSON.parse(body).code }).toEqual({ what, status: 400, code: 'INVALID_MATCHER' })
      }
    }
  })

  it('of 10,000 matchers is refused, and others continue', async () => {
    const { sse, subscribe, publish, token } = await startHub()
    const [stream] = await subscribe('?match=a')
    const query = `?${'match=x&'.repeat(10_000)}`
    expect(await sse.request('GET', HUB + query)).toMatchObject(problem(414, 'URI_TOO_LONG'))
    await publish(token, 'a', 'v')
    await stream!.until(1)
  })

  it('is refused at the limit of streams', async () => {
    const { subscribe } = await startHub({ maxStreams: 4, maxStreamsPerAddress: 2 })
    await subscribe('?match=a')
    for (const refused of await subscribe('?match=a')) {
      expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
      expect(JSON.parse(refused.body).code).toBe('STREAM_LIMIT')
    }
  })

  it('is refused at the limit of patterns with the same literal start', async () => {
    const { sse, subscribe } = await startHub()
    const of = (from: number) =>
      `?${Array.from({ length: 64 }, (_, i) => `match_urlpattern=${encodeURIComponent(`https://x/:a/${from + i}`)}`).join('&')}`
    for (const from of [0, 64]) expect((await sse.open(of(from), { path: HUB })).status).toBe(200)
    for (const refused of await subscribe(of(128))) {
      expect(refused.status).toBe(429)
      expect(JSON.parse(refused.body).code).toBe('PATTERN_LIMIT')
    }
    for (const { status } of await subscribe('?match=other')) expect(status).toBe(200)
  })

  it('resolves relative patterns and topics against the hub', async () => {
    const { token, publish, subscribe } = await startHub()
    const [stream] = await subscribe('?match_urlpattern=/books/*')
    const [relative] = await subscribe('?match_urlpattern=https://hub.example/.well-known/:any')
    await publish(token, 'books/1', 'below the folder of the hub')
    await publish(token, 'https://[', 'no URL')
    await publish(token, '/books/1', 'one')
    await publish(token, 'https://hub.example/books/1', 'two')
    await publish(token, 'news', 'three')
    await stream!.until(2)
    expect(stream!.values).toEqual(['one', 'two'])
    await relative!.until(1)
    expect(relative!.values).toEqual(['three'])
  })

  it('gets heartbeats', async () => {
    const { subscribe } = await startHub({ heartbeat: 20 })
    for (const stream of await subscribe('?match=a')) await waitUntil(() => stream.reader.comments >= 3)
  })
})
