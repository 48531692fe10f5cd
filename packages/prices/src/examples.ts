import { getFirstPrice } from './core/sample-catalog.ts'

// What the API's document shows: it is answered where the sample catalog is loaded.

export const examplePrice = getFirstPrice()

const { offeringId, groupId, priceSpecId, charValues } = examplePrice
export const exampleSearch = { offeringId, groupId, priceSpecId, charValues }
