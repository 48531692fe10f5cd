const TRUE_OR_FALSE = { type: 'string', enum: ['true', 'false'] } as const

/** Query strings are read by hand (`read-query.ts`): these schemas are for the API's document. */
export const undocumentedChecks = { validatorCompiler: () => () => true } as const

export const key = { type: 'string', minLength: 1, description: '1 to 1,024 bytes of UTF-8.' } as const

export const durable = { ...TRUE_OR_FALSE, description: 'Answer only once it would survive a power cut.' } as const

export const bytes = { type: 'string', format: 'binary' } as const

export const octets = { 'application/octet-stream': { schema: bytes } } as const
