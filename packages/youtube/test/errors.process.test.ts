import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readError, FIXED_ID, startStandIn, type StandIn } from './support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn({ apiKeys: 'one,two' })
})
afterAll(() => standIn.stop())

const getVideos = (query: string) => fetch(`${standIn.url}/youtube/v3/videos?${query}`)
const goodQuery = `part=statistics&id=${FIXED_ID}&key=one`
const toIdList = (count: number) =>
  Array.from({ length: count }, (_, i) => `video-${String(i).padStart(5, '0')}`).join(',')

describe('Google’s errors', () => {
  it('accept every valid key', async () => {
    expect((await getVideos(goodQuery)).status).toBe(200)
    expect((await getVideos(goodQuery.replace('one', 'two'))).status).toBe(200)
  })

  it.each([
    ['a missing key', `part=id&id=${FIXED_ID}`, { status: 400, reason: 'keyInvalid', domain: 'usageLimits' }],
    ['an empty key', `part=id&id=${FIXED_ID}&key=`, { status: 400, reason: 'keyInvalid' }],
    ['a wrong key', `part=id&id=${FIXED_ID}&key=three`, { status: 400, reason: 'keyInvalid' }],
    ['a wrong key before anything else', 'key=three&nonsense', { status: 400, reason: 'keyInvalid' }],
    ['a missing part', `id=${FIXED_ID}&key=one`, { status: 400, reason: 'missingRequiredParameter', location: 'part' }],
    ['an empty part', `part=&id=${FIXED_ID}&key=one`, { status: 400, reason: 'missingRequiredParameter' }],
    [
      'an unknown part',
      `part=id,nope&id=${FIXED_ID}&key=one`,
      { status: 400, reason: 'unknownPart', domain: 'youtube.part', location: 'part', message: "'nope'" },
    ],
    ['a part named like a method of objects', `part=toString&id=${FIXED_ID}&key=one`, { reason: 'unknownPart' }],
    ['a part of the owner’s', `part=fileDetails&id=${FIXED_ID}&key=one`, { status: 403, reason: 'forbidden' }],
    ['no filter', 'part=id&key=one', { status: 400, reason: 'missingRequiredParameter', location: '' }],
    ['an empty id', 'part=id&id=&key=one', { status: 400, reason: 'missingRequiredParameter' }],
    ['two filters', `${goodQuery}&chart=mostPopular`, { status: 400, reason: 'incompatibleParameters' }],
    ['a chart', 'part=id&chart=mostPopular&key=one', { status: 400, reason: 'videoChartNotFound' }],
    ['ratings of nobody', 'part=id&myRating=like&key=one', { status: 401, reason: 'required' }],
    ['51 ids', `part=id&id=${toIdList(51)}&key=one`, { status: 400, reason: 'invalidFilters' }],
    ['invalid fields', `${goodQuery}&fields=items(`, { status: 400, reason: 'invalidParameter', location: 'fields' }],
    ['unknown fields', `${goodQuery}&fields=items/nope`, { status: 400, message: 'Invalid field selection nope' }],
    ['another format', `${goodQuery}&alt=xml`, { status: 400, reason: 'invalidParameter', location: 'alt' }],
    ['an unclear wish', `${goodQuery}&prettyPrint=perhaps`, { status: 400, location: 'prettyPrint' }],
    ['an unknown parameter', `${goodQuery}&nope=1`, { status: 400, reason: 'unexpectedParameter', location: 'nope' }],
  ])('answer %s', async (_what, query, expected) => {
    const reply = await getVideos(query)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=UTF-8')
    expect(await readError(reply)).toMatchObject({ code: reply.status, domain: expect.any(String), ...expected })
  })

  it('accept 50 ids', async () => {
    const reply = await getVideos(`part=id&id=${toIdList(50)}&key=one`)
    expect(((await reply.json()) as any).items).toHaveLength(50)
  })

  it('include the problems of the service itself', async () => {
    const limited = await startStandIn({ apiKeys: 'one', rateLimitPerIp: '1' })
    onTestFinished(async () => void (await limited.stop()))
    const get = () => fetch(`${limited.url}/youtube/v3/videos?${goodQuery}`)
    expect((await get()).status).toBe(200)
    const reply = await get()
    expect(reply.headers.get('content-type')).toBe('application/json; charset=UTF-8')
    expect(await readError(reply)).toMatchObject({ status: 429, code: 429, reason: 'rateLimitExceeded' })
  })

  it('have no other members', async () => {
    expect(await (await getVideos('part=id&key=one')).json()).toEqual({
      error: {
        code: 400,
        message: expect.any(String),
        errors: [
          {
            message: expect.any(String),
            domain: 'youtube.parameter',
            reason: 'missingRequiredParameter',
            location: '',
            locationType: 'parameter',
          },
        ],
      },
    })
  })

  it('contain any quoted script safely', async () => {
    const reply = await getVideos(`part=${encodeURIComponent('日本')}&id=${FIXED_ID}&key=one`)
    expect(await readError(reply)).toMatchObject({ message: "'日本'" })
  })

  it('include those of the runtime, below the API’s path', async () => {
    const missing = await fetch(`${standIn.url}/youtube/v3/search?${goodQuery}`)
    expect(await readError(missing)).toMatchObject({ status: 404, reason: 'notFound' })
    const method = await fetch(`${standIn.url}/youtube/v3/videos`, { method: 'DELETE' })
    expect(method.headers.get('allow')).toBe('GET')
    expect(await readError(method)).toMatchObject({ status: 405, reason: 'httpMethodNotAllowed' })
  })

  it('are problems on other paths', async () => {
    const reply = await fetch(`${standIn.url}/youtube`)
    expect(reply.headers.get('content-type')).toBe('application/problem+json')
    expect(await reply.json()).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })
})

describe('the API’s document', () => {
  it('does not reveal keys', async () => {
    expect(await (await fetch(`${standIn.url}/openapi.json`)).text()).not.toMatch(/"(one|two)"/)
  })
})
