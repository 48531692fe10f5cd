import { MAX_TEXT_LENGTH } from '../core/price.ts'
import { readAmount } from '../search/row-tests.ts'
import { readCharValues, searchBodySchema } from '../search/search-schema.ts'
import type { SearchConditions } from '../search/search-request.ts'

const { offeringId, groupId, priceSpecId, at, currency, minValue, maxValue } = searchBodySchema.properties
const amountSchema = { type: 'string', maxLength: MAX_TEXT_LENGTH } as const

/** The schemas of the conditions of a search as parameters. */
export const conditionParameters = {
  offeringId,
  groupId,
  priceSpecId,
  charValues: { type: 'string', description: 'Conditions of a search as JSON, `[{"char","op"?,"value"}]`.' },
  at,
  currency,
  minValue: { ...amountSchema, description: minValue.description },
  maxValue: { ...amountSchema, description: maxValue.description },
} as const

interface ConditionTexts {
  readonly charValues?: string
  readonly minValue?: string
  readonly maxValue?: string
}

/**
 * Parses the conditions among parameters. The result has the other parameters, too.
 * @throws Problem `VALIDATION_FAILED`
 */
export function readConditions<T extends ConditionTexts>({
  charValues,
  minValue: min,
  maxValue: max,
  ...others
}: T): Omit<T, keyof ConditionTexts> & Pick<SearchConditions, 'charValues' | 'minValue' | 'maxValue'> {
  return {
    ...others,
    charValues: charValues === undefined ? [] : readCharValues(charValues),
    ...(min !== undefined && { minValue: readAmount(min, 'querystring/minValue') }),
    ...(max !== undefined && { maxValue: readAmount(max, 'querystring/maxValue') }),
  }
}
