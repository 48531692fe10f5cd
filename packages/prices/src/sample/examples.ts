import { getFirstPrice } from './sample-catalog.ts'

// Examples of the API's document and of the ready table. All use one price of the sample catalog, which the example of
// `putPrice` creates in a catalog without it.

export const examplePrice = getFirstPrice()

const { offeringId, groupId, priceSpecId, charValues } = examplePrice
export const exampleSearch = { offeringId, groupId, priceSpecId, charValues }
