import { firstPrice } from './core/sample.ts'

// What the API's document shows: it is answered where the sample catalog is loaded.

export const examplePrice = firstPrice()

const { offeringId, groupId, priceSpecId, charValues } = examplePrice
export const exampleSearch = { offeringId, groupId, priceSpecId, charValues }
