import { createHmac } from 'node:crypto'
import { DEFAULT_DIALECT, type Dialect } from '../load/fleet/fleet-plan.ts'
import { createGoTarget } from './peers.ts'

const KEY = 'a key of thirty-two characters, or more'
const HUB = 'https://hub.example/.well-known/mercure'
const ISSUER = 'https://issuer.example'
const PATH = '/.well-known/mercure'
const API_TOKEN = 'change'

/** Settings with which sse accepts the tokens below, and streams without a token. */
export const MERCURE_SETTINGS = {
  mercureIssuer: ISSUER,
  mercureAudience: HUB,
  mercureJwtKey: KEY,
  mercureAnonymous: 'on',
  apiToken: API_TOKEN,
}

const encodePart = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Creates the header with a token. @param typ type of the token @param claims claims that allow everything */
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
const API_TOKEN_HEADERS = { authorization: `Bearer ${API_TOKEN}` }
const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' }

const createDialect = (query: string, put: string, token: Readonly<Record<string, string>>): Dialect => ({
  wait: { method: 'GET', path: `${PATH}?${query}` },
  put: { method: 'POST', path: PATH, headers: { ...FORM_HEADERS, ...token }, body: `${put}&data={value}` },
  closeAll: { ...DEFAULT_DIALECT.closeAll, headers: API_TOKEN_HEADERS },
  echoes: false,
  around: ['', ''],
})

/** Dialect of sse without Mercure's protocol, on a service with keys of access tokens. */
export const WAIT_DIALECT: Dialect = {
  ...DEFAULT_DIALECT,
  put: { ...DEFAULT_DIALECT.put, headers: API_TOKEN_HEADERS },
  closeAll: { ...DEFAULT_DIALECT.closeAll, headers: API_TOKEN_HEADERS },
}

const MATCHED_TOPIC = 'topic=all'

/**
 * Streams of sse with one matcher; with two more matchers, whose topics are unique to each stream; and with two more
 * matchers that are patterns, unique to each stream.
 */
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

/** Creates a dialect in which each stream subscribes to all of `topics` topics. Values go to the topics in turn. */
export function createTopicsDialect(topics: number): Dialect {
  const query = Array.from({ length: topics }, (_, i) => `match=t${i}`).join('&')
  return { ...createDialect(query, 'topic=t{topic}', CURRENT_DRAFT_HEADERS), topics }
}

/** Private values, which require a token. */
export const PRIVATE_DIALECT: Dialect = {
  ...ONE_MATCHER,
  wait: { ...ONE_MATCHER.wait, headers: CURRENT_DRAFT_HEADERS },
  put: { ...ONE_MATCHER.put, body: `${MATCHED_TOPIC}&private=on&data={value}` },
}

/** Dialect of the hub of the Mercure project, which implements the previous draft. */
export const HUB_DIALECT: Dialect = {
  ...createDialect('topic=all', MATCHED_TOPIC, PREVIOUS_DRAFT_HEADERS),
  isUnordered: true,
}

/** The hub of the Mercure project, with messages in memory and the defaults of its library. */
export const mercureHub = createGoTarget("Mercure's own hub", 'mercure', KEY)
