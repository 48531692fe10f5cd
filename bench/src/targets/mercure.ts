import { createHmac } from 'node:crypto'
import type { Dialect } from '../load/fleet/fleet-plan.ts'
import { createGoTarget } from './peers.ts'

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

const encodePart = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** The header of a token that allows everything, as this draft has it or as those before. */
function createAuthorization(typ: string, claims: object): Readonly<Record<string, string>> {
  const exp = Math.floor(Date.now() / 1000) + 24 * 60 * 60
  const body = `${encodePart({ alg: 'HS256', typ })}.${encodePart({ iss: ISSUER, aud: HUB, exp, ...claims })}`
  return { authorization: `Bearer ${body}.${createHmac('sha256', KEY).update(body).digest('base64url')}` }
}

const CURRENT_DRAFT_HEADERS = createAuthorization('at+jwt', {
  authorization_details: [
    {
      type: 'https://mercure.rocks/authorization-detail',
      actions: ['publish', 'subscribe'],
      topics: [{ match: '*' }],
    },
  ],
})
const PREVIOUS_DRAFT_HEADERS = createAuthorization('JWT', { mercure: { publish: ['*'], subscribe: ['*'] } })
const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' }

const createDialect = (query: string, put: string, token: Readonly<Record<string, string>>): Dialect => ({
  wait: { method: 'GET', path: `${PATH}?${query}` },
  put: { method: 'POST', path: PATH, headers: { ...FORM_HEADERS, ...token }, body: `${put}&data={value}` },
  closeAll: { method: 'GET', path: '/closeall' },
  echoes: false,
  around: ['', ''],
})

const MATCHED_TOPIC = 'topic=all'

/** Streams of our own hub that match one topic, or that and two of nobody else's, or that and two patterns. */
export const ONE_MATCHER = createDialect('match=all', MATCHED_TOPIC, CURRENT_DRAFT_HEADERS)
export const THREE_MATCHERS = createDialect(
  'match=all&match=own/{cid}&match=other/{cid}',
  MATCHED_TOPIC,
  CURRENT_DRAFT_HEADERS,
)
export const TWO_PATTERNS = createDialect(
  'match=all&match_urlpattern=/own/{cid}/:name&match_urlpattern=/other/{cid}/*',
  MATCHED_TOPIC,
  CURRENT_DRAFT_HEADERS,
)

/** Streams that carry so many topics, to which values go in turn. */
export function createTopicsDialect(topics: number): Dialect {
  const query = Array.from({ length: topics }, (_, i) => `match=t${i}`).join('&')
  return { ...createDialect(query, 'topic=t{topic}', CURRENT_DRAFT_HEADERS), topics }
}

/** What only a token shows. */
export const PRIVATE_DIALECT: Dialect = {
  ...ONE_MATCHER,
  wait: { ...ONE_MATCHER.wait, headers: CURRENT_DRAFT_HEADERS },
  put: { ...ONE_MATCHER.put, body: `${MATCHED_TOPIC}&private=on&data={value}` },
}

/** Mercure's own hub, which speaks the draft before. */
export const HUB_DIALECT: Dialect = {
  ...createDialect('topic=all', MATCHED_TOPIC, PREVIOUS_DRAFT_HEADERS),
  isUnordered: true,
}

/** Mercure's own hub, its messages in memory, with all else as its library has it. */
export const mercureHub = createGoTarget("Mercure's own hub", 'mercure', KEY)
