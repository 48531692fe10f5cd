import { createHmac } from 'node:crypto'
import type { Dialect } from '../load/fleet/plan.ts'
import { inGo } from './peers.ts'

const KEY = 'a key of thirty-two characters, or more'
const HUB = 'https://hub.example/.well-known/mercure'
const ISSUER = 'https://issuer.example'
const PATH = '/.well-known/mercure'

/** What lets our own hub know the tokens below, and take streams without one. */
export const MERCURE_SETTINGS = {
  mercureIssuer: ISSUER,
  mercureAudience: HUB,
  mercureJwtKey: KEY,
  mercureAnonymous: 'on',
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** The header of a token that allows everything, as this draft has it or as those before. */
function authorization(typ: string, claims: object): Readonly<Record<string, string>> {
  const exp = Math.floor(Date.now() / 1000) + 24 * 60 * 60
  const body = `${encoded({ alg: 'HS256', typ })}.${encoded({ iss: ISSUER, aud: HUB, exp, ...claims })}`
  return { authorization: `Bearer ${body}.${createHmac('sha256', KEY).update(body).digest('base64url')}` }
}

const OURS = authorization('at+jwt', {
  authorization_details: [
    {
      type: 'https://mercure.rocks/authorization-detail',
      actions: ['publish', 'subscribe'],
      topics: [{ match: '*' }],
    },
  ],
})
const THEIRS = authorization('JWT', { mercure: { publish: ['*'], subscribe: ['*'] } })
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const dialect = (query: string, put: string, token: Readonly<Record<string, string>>): Dialect => ({
  wait: { method: 'GET', path: `${PATH}?${query}` },
  put: { method: 'POST', path: PATH, headers: { ...FORM, ...token }, body: `${put}&data={value}` },
  closeAll: { method: 'GET', path: '/closeall' },
  echoes: false,
  around: ['', ''],
})

const MATCHED = 'topic=all'

/** Streams of our own hub that match one topic, or that and two of nobody else's, or that and two patterns. */
export const ONE_MATCHER = dialect('match=all', MATCHED, OURS)
export const THREE_MATCHERS = dialect('match=all&match=own/{cid}&match=other/{cid}', MATCHED, OURS)
export const TWO_PATTERNS = dialect(
  'match=all&match_urlpattern=/own/{cid}/:name&match_urlpattern=/other/{cid}/*',
  MATCHED,
  OURS,
)

/** Streams that carry so many topics, to which values go in turn. */
export function onManyTopics(topics: number): Dialect {
  const query = Array.from({ length: topics }, (_, i) => `match=t${i}`).join('&')
  return { ...dialect(query, 'topic=t{topic}', OURS), topics }
}

/** What only a token shows. */
export const PRIVATE: Dialect = {
  ...ONE_MATCHER,
  wait: { ...ONE_MATCHER.wait, headers: OURS },
  put: { ...ONE_MATCHER.put, body: `${MATCHED}&private=on&data={value}` },
}

/** Mercure's own hub, which speaks the draft before. */
export const HUB_DIALECT: Dialect = { ...dialect('topic=all', MATCHED, THEIRS), isUnordered: true }

/** Mercure's own hub, its messages in memory, with all else as its library has it. */
export const mercureHub = inGo("Mercure's own hub", 'mercure', KEY)
