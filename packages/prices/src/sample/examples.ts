import { getFirstPrice } from './sample-catalog.ts'

// Examples of the API's document. They are valid requests if the sample catalog is loaded.

export const examplePrice = getFirstPrice()

const { offeringId, groupId, priceSpecId, charValues } = examplePrice
export const exampleSearch = { offeringId, groupId, priceSpecId, charValues }
