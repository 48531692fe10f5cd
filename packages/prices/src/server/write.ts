import { PROBLEM_TYPE, type Problem } from '@influencer-stats/runtime/problems'
import type { ServerResponse } from 'node:http'

const JSON_HEADERS = ['content-type', 'application/json', 'content-length']

// Both take the headers that the house's hooks have set, as a flat list, and return the status. One flat list of headers
// goes to Node as it is: building them one by one through Fastify costs 1 us more.

export function writeAnswer(response: ServerResponse, hookHeaders: readonly string[], body: string): number {
  const length = Buffer.byteLength(body)
  // What is ASCII is written as it lies in memory.
  const encoding = length === body.length ? 'latin1' : 'utf8'
  response.writeHead(200, [...hookHeaders, ...JSON_HEADERS, String(length)]).end(body, encoding)
  return 200
}

export function writeProblem(response: ServerResponse, hookHeaders: readonly string[], problem: Problem): number {
  const body = problem.body()
  const own = ['content-type', PROBLEM_TYPE, 'content-length', String(Buffer.byteLength(body))]
  response.writeHead(problem.status, [...hookHeaders, ...Object.entries(problem.headers).flat(), ...own]).end(body)
  return problem.status
}
