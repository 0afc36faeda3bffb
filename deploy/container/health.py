"""Ends with 0 if the service on this machine is ready, by https or http: the health check of a container."""

import ssl
import sys
import urllib.error
import urllib.request

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
# It asks itself, by an address that no certificate names; nobody stands in between.
OWN = ssl.create_default_context()
OWN.check_hostname, OWN.verify_mode = False, ssl.CERT_NONE


def answered(scheme: str) -> int | None:
    """The status, or None where this scheme is not spoken."""
    try:
        url = f"{scheme}://127.0.0.1:{PORT}/v2/health/ready"
        with urllib.request.urlopen(url, timeout=4, context=OWN) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


sys.exit(0 if (answered("http") or answered("https")) == 200 else 1)
