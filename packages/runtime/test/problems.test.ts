import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { commonErrors } from '../src/errors/common-errors.ts'
import { toProblem } from '../src/http/replies/problem-replies.ts'
import { Problem, buildProblemReplies, problemSchema } from '../src/errors/problems.ts'

test('every kind creates problems that match the schema', () => {
  const fits = new Ajv().compile(problemSchema)
  for (const [code, kind] of Object.entries(commonErrors)) {
    const problem = kind('because')
    expect(problem).toBeInstanceOf(Problem)
    const body = JSON.parse(problem.toBody())
    expect(fits(body)).toBe(true)
    expect(body).toEqual({
      type: `urn:influencer-stats:problem:${code}`,
      title: kind.title,
      status: kind.status,
      detail: 'because',
      code,
    })
    expect(JSON.parse(kind().toBody())).not.toHaveProperty('detail')
  }
})

test('an unknown fault reveals no details', () => {
  for (const thrown of [new Error('secret'), 'secret', undefined, null, { message: 'secret', statusCode: 400 }]) {
    const problem = toProblem(thrown)
    expect(problem.code).toBe('INTERNAL')
    expect(problem.toBody()).not.toContain('secret')
  }
})

test('a refusal of Fastify retains its message, and a problem of a service stays the same', () => {
  const refused = Object.assign(new Error('body must be object'), { code: 'FST_ERR_VALIDATION', statusCode: 400 })
  expect(toProblem(refused)).toMatchObject({ code: 'VALIDATION_FAILED', detail: 'body must be object' })
  const own = commonErrors.NOT_READY()
  expect(toProblem(own)).toBe(own)
})

test('replies are grouped by status', () => {
  const replies = buildProblemReplies(commonErrors.BAD_JSON, commonErrors.VALIDATION_FAILED, commonErrors.NOT_FOUND)
  expect(Object.keys(replies)).toEqual(['400', '404'])
  expect(replies[400]!.description).toMatch(/BAD_JSON.*VALIDATION_FAILED/)
})
