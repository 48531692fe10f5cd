import type { FastifyRequest } from 'fastify'
import { commonErrors } from '../../errors/common-errors.ts'
import type { Budget } from '../../memory/budget.ts'
import type { Access } from '../../net/request.ts'
import { skipBodyValidation } from '../../schema/validation.ts'
import { createBytesParser } from '../server/bytes-parser.ts'
import type { App } from './app.ts'

/** Media type of exports and imports. */
export const LINES_TYPE = 'application/x-ndjson'

export interface ImportRoute<Line> {
  /** Maximum size of a request (bytes). */
  readonly limit: number
  readonly budget: Budget
  readonly access?: Access
  /** Schema of the route without its body. */
  readonly schema: object
  /** Line of the example in the API document. */
  readonly example: string
  /** Checks a request before its lines are parsed. @throws Problem if it is refused */
  authorize(request: FastifyRequest): unknown
  /** Returns a line, or the reason why the text is none. */
  parse(text: string): Line | string
  /** Creates the problem of a line that is none. */
  createError(detail: string): Error
  /** Applies the lines of a request, all or none. Resolves with the reply. */
  apply(lines: readonly Line[], request: FastifyRequest): Promise<object>
}

/** Registers `POST /import`, which applies lines of an export. */
export async function registerImportRoute<Line extends object>(app: App, route: ImportRoute<Line>): Promise<void> {
  const { limit, budget, access, example, parse, createError } = route
  const body = { content: { [LINES_TYPE]: { schema: { type: 'string', examples: [`${example}\n`] } } } }

  function parseLines(content: Buffer | undefined): Line[] {
    return (content?.toString() ?? '').split('\n').flatMap((text, i) => {
      if (text === '') return []
      const line = parse(text)
      if (typeof line === 'string') throw createError(`line ${i + 1}: ${line}`)
      return [line]
    })
  }

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', createBytesParser({ limit, tooLarge: commonErrors.BODY_TOO_LARGE }, budget))
    scope.post(
      '/import',
      {
        config: { ...(access && { access }), cost: 10 },
        validatorCompiler: skipBodyValidation,
        schema: { ...route.schema, body } as never,
      },
      async (request) => {
        await route.authorize(request)
        return route.apply(parseLines(request.body as Buffer | undefined), request)
      },
    )
  })
}
