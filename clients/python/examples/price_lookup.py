"""Finds the one price that matches conditions.

python price_lookup.py OFFERING GROUP SPEC Term=12 Router=Included --prices http://localhost:8084
"""

import argparse
import sys

from influencer_stats import PricesClient, ServiceError
from influencer_stats.types.prices import Search, SearchCharValues


def to_condition(text: str) -> SearchCharValues:
    char, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text}: not CHARACTERISTIC=VALUE")
    return {"char": char, "value": value}


def main() -> int:
    parser = argparse.ArgumentParser(description="Finds the one price that matches conditions.")
    parser.add_argument("offering")
    parser.add_argument("group")
    parser.add_argument("spec")
    parser.add_argument("conditions", nargs="*", type=to_condition, help="CHARACTERISTIC=VALUE")
    parser.add_argument("--prices", default="http://localhost:8084", help="URL of prices")
    options = parser.parse_intermixed_args()
    search: Search = {
        "offeringId": options.offering,
        "groupId": options.group,
        "priceSpecId": options.spec,
        "charValues": options.conditions,
        "at": "now",
    }

    with PricesClient(options.prices) as prices:
        try:
            price = prices.search(search)
        except ServiceError as error:
            print(error, file=sys.stderr)
            for candidate in error.body.get("candidates", []):
                print(f"candidate {candidate['id']}: {candidate['value']} {candidate['currency']}", file=sys.stderr)
            return 1
    if price is None:
        print("no price matches", file=sys.stderr)
        return 1
    # A Decimal has the digits that were sent: 1.10 stays 1.10.
    print(f"{price['value']} {price['currency']} (price {price['id']})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
