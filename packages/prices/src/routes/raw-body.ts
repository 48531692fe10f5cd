import { validatorOf } from '@influencer-stats/runtime/validation'

/** For routes that read their body from its bytes: the schema of the body is for the document alone. */
export const unreadBody = ({ schema, httpPart }: { schema: unknown; httpPart?: string }) =>
  httpPart === 'body' ? () => true : validatorOf(schema as object, httpPart)
