import { expectRefusals, type Refusal } from '@influencer-stats/runtime/testing/refusals'
import { it, onTestFinished } from 'vitest'
import { startStandIn } from './support/stand-in.ts'

const put = (target: string, body: unknown, ...detail: string[]): Refusal => ({
  request: ['PUT', `/control/${target}`, body],
  code: 'VALIDATION_FAILED',
  detail,
})

const channel = 'UC0007000700070007000700'
const playlist = 'PL00070007000700070007000700070007'

const refusals: Refusal[] = [
  put('faults', { latency: 1 }, 'unknown property "latency"; known: latencyMs, errorRate'),
  put('faults', { latencyMs: -1 }, 'body/latencyMs must be an integer from 0 to 600000; received -1'),
  put('faults', { errorRate: 2 }, 'body/errorRate must be a number from 0 to 1; received 2'),
  put('faults', { errorStatus: 200 }, 'body/errorStatus must be an integer from 400 to 599; received 200'),
  put('faults', { errorReason: '1' }, 'body/errorReason must be 1 to 64 letters such as quotaExceeded; received "1"'),
  put('faults', { cut: 'after' }, 'body/cut must be one of before, halfway; received "after"'),
  put('faults', { gone: ['x'] }, 'body/gone/0 must be the id of a video such as -4lB5EKS5Uk; received "x"'),
  put('faults', { hang: 'yes' }, 'body/hang must be true or false; received "yes"'),
  put('clock', { at: 'now' }, 'body/at must be an integer from 0 to 8640000000000000; received "now"'),
  put('clock', { now: 1 }, 'unknown property "now"; known: at'),
  put('uploads', { videos: [{ id: 'abcdefghijk' }] }, 'body must have either channel or playlist'),
  put('uploads', { channel, playlist, videos: [{ id: 'abcdefghijk' }] }, 'body must have either channel or playlist'),
  put('uploads', { channel: 'UC7', videos: [] }, 'body/channel must be the id of a channel such as UC'),
  put(
    'uploads',
    { channel: 'UC7777777777777777777777', videos: [{ id: 'abcdefghijk' }] },
    'there is no channel UC7777',
  ),
  put('uploads', { playlist: 'UU1', videos: [] }, 'body/playlist must be the id of a playlist such as PL'),
  put('uploads', { channel, videos: [{ id: 'abcdefghij_' }] }, 'body/videos/0/id must be the id of a video such as'),
  put(
    'uploads',
    { channel, videos: [{ id: 'UC000700001' }] },
    'UC000700001 is the id of an upload that exists already',
  ),
  put('uploads', { playlist, videos: [{ id: 'abcdefghijk', title: 'x' }] }, 'abcdefghijk may only have id and at'),
  put('channels', { hidden: ['x'] }, 'body/hidden/0 must be the id of a channel such as UC0007'),
  { request: ['PUT', '/control/clock', '{'], code: 'BAD_JSON', detail: ['body must be valid JSON', 'received 1 char'] },
]

it('every refusal of the control routes names the field, the allowed and the received value', async () => {
  const standIn = await startStandIn()
  onTestFinished(async () => void (await standIn.stop()))
  await expectRefusals(standIn.url, refusals)
})
