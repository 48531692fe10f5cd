/** Share links for clients. */
export const links = {
  'links.title': 'Client links',
  'links.note':
    'Everyone who has a link sees its campaign until the link expires, you revoke it, or the campaign is deleted.',
  'links.none': 'No link is valid. Create one on the page of a campaign.',
  'links.deleted': 'The campaign was deleted: this link shows nothing.',
  'links.unknown': 'Stats does not respond: it is unknown whether the campaign still exists.',
  'links.link': 'Link',
  'links.linkTo': 'Link to {name}',
  'links.copy': 'Copy',
  'links.copied': 'Copied',
  'links.revoke': 'Revoke',
  'links.until': 'until {day}',

  'share.note':
    'Everyone with the link sees the live numbers of this campaign until it expires or you revoke it. It shows no cost and no other campaigns. <all>All links</all>',
  'share.validFor': 'Valid for',
  'share.days': { one: '{count} day', other: '{count} days' },
  'share.create': 'Create a link',
} as const
