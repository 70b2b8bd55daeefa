"""The long run that looks for leaks."""

import pytest

from fuzz.soak import MEBIBYTE, Usage, growth, soak


def usages(*memory, files=10, threads=2):
    return [Usage(each * MEBIBYTE, files, threads) for each in memory]


def test_memory_that_settles_is_no_growth():
    assert growth(usages(300, 380, *[400] * 6)) == []


def test_memory_that_goes_on_growing_is_found():
    assert growth(usages(*range(300, 380, 10))) == ["memory has grown by 40.0 MiB"]


@pytest.mark.parametrize("name", ["files", "threads"])
def test_one_more_file_or_thread_is_found(name):
    before = usages(*[300] * 6)
    after = usages(300, 300, **{name: 11})
    assert [line.split()[0] for line in growth(before + after)] == [name]


@pytest.mark.slow
def test_some_cycles_of_all_calls_use_no_more_memory_files_or_threads():
    pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
    pytest.importorskip("shap", reason="explanations need shap")
    assert growth(soak(10)) == []
